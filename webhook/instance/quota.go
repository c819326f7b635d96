package instance

import (
	"context"

	"github.com/defaultplan/defaultplan/resolve/quota"
	"github.com/defaultplan/defaultplan/webhook/catalog"
	"github.com/defaultplan/defaultplan/webhook/policies"
	"github.com/defaultplan/defaultplan/webhook/review"
)

// refuseQuota holds a plan that is new to the instance against the limits. One that was
// undecided is decided all the same, and waits for its slot as others do: nothing would
// wake it when there is one.
func (c *PlanCheck) refuseQuota(ctx context.Context, seen view, defined *catalog.Definition) (*review.Denial, error) {
	if c.Waited || c.Write.Old != nil && !c.Write.Old.Spec.Decided() {
		return nil, nil
	}
	w := policies.Want{Kind: quota.Instances, Defined: defined, Namespace: c.Write.Req.Namespace, Uid: c.Write.New.Metadata.UID}
	short, err := seen.full(ctx, &w)
	if err != nil || short == nil {
		return nil, err
	}
	return w.Refuse(short, c.AskedField()), nil
}
