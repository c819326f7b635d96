package change

import (
	"context"
	"fmt"

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

// formerOfClass is formerOf for the plans that have the type of their class.
func formerOfClass(ctx context.Context, reader client.Reader, class catalog.Class, edits []*edit) (*standing, error) {
	if !retyped(edits) || class.Spec.ServiceType == "" {
		return nil, nil //nolint:nilnil // There is none.
	}
	was, err := lookAt(ctx, reader, client.ObjectKey{Namespace: class.Object.GetNamespace(), Name: class.Spec.ServiceType}, "")
	if err != nil || was.holder == nil || was.holder.Class != class.Object.GetName() || was.holder.Type != "" {
		return nil, err
	}
	return was, nil
}

// warnOfLoss warns that a type has lost its default, with the plan that has another
// type now.
func (s *setting) warnOfLoss(was *standing) {
	text := fmt.Sprintf("%s was the default plan for %s", was.full(was.holder), was.kind())
	if len(was.others(was.holder.Name)) == 0 {
		text += ", which has none now"
	}
	if !s.writes.Stores() {
		text += " (" + s.writes.DryRun + " dry run)"
	}
	warnf(s.env, "%s", text)
}

// writePlan writes the edits of a plan, and tells of the type that it takes the default
// away from: with a switch to come as a switch does, else as a warning.
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
	s.warnOfLoss(was)
	return written, nil
}
