package plans

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/cmd/svcat/internal/catalog"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
)

// formerOf reads who is the default of a plan's type, where an edit may take the plan
// out of it; nil if no type is edited, or there was none.
func formerOf(ctx context.Context, reader client.Reader, plan catalog.Plan, edits []*edit) (*standing, error) {
	if !retyped(edits) {
		return nil, nil //nolint:nilnil // There is none.
	}
	was, err := effectiveType(ctx, reader, plan)
	if err != nil || was == "" {
		return nil, err
	}
	return lookAt(ctx, reader, client.ObjectKey{Namespace: plan.Object.GetNamespace(), Name: was}, plan.Object.GetName())
}

// writePlan writes the edits of a plan. With a switch to come, it tells of the type that it
// takes the default away from as a switch does. Admission warns of it, too.
func (s *setting) writePlan(ctx context.Context, change *Switch, plan catalog.Plan, title string, edits []*edit, switches bool) (client.Object, error) {
	was, err := formerOf(ctx, change.Client, plan, edits)
	if err != nil {
		return nil, cli.Untouched(err)
	}
	title = "plan " + title + in(plan.Object.GetNamespace())
	written, err := s.write(ctx, change.Client, target{plan.Object, title, editablePlan(plan)}, edits)
	if err != nil || !retyped(edits) {
		return written, err
	}
	view, _ := catalog.PlanOf(written)
	now, err := effectiveType(ctx, change.Client, view)
	if err != nil {
		return written, err
	}
	change.fresh = was == nil || was.at.Name != now
	if !change.fresh || was == nil || !was.holds(plan.Object.GetName()) {
		return written, nil
	}
	if switches {
		return written, s.writes.Say(s.env, "%s is no longer the default plan for %s", plan.Title(), was.kind())
	}
	return written, nil
}
