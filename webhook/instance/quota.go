package instance

import (
	"context"

	"github.com/defaultplan/defaultplan/resolve/quota"
	"github.com/defaultplan/defaultplan/webhook/policies"
)

// validateQuota holds a plan that is new to the instance against the limits. One that was
// undecided is decided all the same, and waits for its slot as others do: nothing would
// wake it when there is one.
func (v *Validation) validateQuota(ctx context.Context, seen view) error {
	if v.Waited || v.Old != nil && !v.Old.Spec.Decided() {
		return nil
	}
	w := policies.Want{Kind: quota.Instances, Defined: v.Defined, Namespace: v.Req.Namespace, Uid: v.New.Metadata.UID}
	short, err := seen.full(ctx, &w)
	if short != nil {
		v.Deny(w.Refuse(short, v.AskedField()))
	}
	return err
}
