package binding

import (
	"context"

	"github.com/defaultplan/defaultplan/resolve/quota"
	"github.com/defaultplan/defaultplan/webhook/catalog"
	"github.com/defaultplan/defaultplan/webhook/policies"
)

// validateQuota holds a new binding against the limits for bindings. One that was undecided
// waits for its slot.
func (v *validation) validateQuota(ctx context.Context, defined *catalog.Definition, field string) error {
	if v.Old != nil {
		return nil
	}
	w := policies.Want{Kind: quota.Bindings, Defined: defined, Namespace: v.Req.Namespace, Uid: v.New.Metadata.UID}
	denied, err := v.Resolver.RefusedOver(ctx, w, field)
	v.Denied = v.Denied.Also(denied)
	return err
}
