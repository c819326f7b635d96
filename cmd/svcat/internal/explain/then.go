package explain

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/catalog"
	"github.com/defaultplan/defaultplan/resolve"
)

// then is what was decided, and what has become of that plan. A decision is final where a plan that
// is gone is kept.
func then(ctx context.Context, reader client.Reader, namespace string, refs *v1beta1.DecidedReference, applied *v1beta1.AppliedDefaults, final bool) (*Then, error) {
	then := &Then{Rule: applied.Rule, Truncated: applied.Truncated}
	class, plan := catalog.DecidedRefs(refs, namespace)
	if plan.Name == "" {
		then.Rule = ""
		return then, nil
	}
	found := gatherer{reader, newSlice()}
	if err := found.plan(ctx, plan); err != nil {
		return nil, err
	}
	if err := found.complete(ctx); err != nil {
		return nil, err
	}
	then.Plan = &Plan{
		Class: cmp.Or(applied.Class, class.Name), Plan: cmp.Or(applied.Plan, plan.Name),
		Scope: scopeName(plan.Namespace), Name: plan.Name,
	}
	entry, stands := found.plans[plan]
	if !stands {
		then.Gone, then.Again = "it does not exist any more", !final
		return then, nil
	}
	var of *resolve.ClassEntry
	if now, ok := found.class(entry); ok {
		then.Plan.Class, then.Plan.Plan = now.Title(), entry.Title()
		of = new(now.ClassEntry())
	}
	is := entry.PlanEntry()
	if why := resolve.WhyGone(of, &is); why != "" {
		then.Gone = "it is " + why
	}
	then.Again = !final && (is.Gone != "" || of == nil || of.Gone != "")
	return then, nil
}

// keeps says for how long the object keeps the plan that was decided.
func (t *Then) keeps(kind string) string {
	keeps := fmt.Sprintf("the %s keeps %s", kind, t.Plan.titled())
	if t.Again {
		return keeps + " until a change of its spec finds another plan: no broker was called for it yet."
	}
	return keeps + ": it was decided once."
}

// difference is then and now in one sentence.
func difference(then *Then, now *Now, kind string) string {
	switch {
	case then.Plan == nil && now.Verdict == Decided:
		return fmt.Sprintf("No plan is decided yet; the next write of the %s, or the keeper's, would decide on %s.", kind, now.Plan.titled())
	case then.Plan == nil && now.Verdict == Refused:
		return fmt.Sprintf("No plan is decided yet, and created now it would be refused: the %s stays undecided until that is mended.", kind)
	case then.Plan == nil:
		return fmt.Sprintf("No plan is decided yet, and none would be now: the %s waits.", kind)
	case now.Verdict == Refused:
		return "Created now it would be refused; " + then.keeps(kind)
	case now.Verdict == Waits:
		return "Created now it would have to wait; " + then.keeps(kind)
	case then.Plan.Name != now.Plan.Name || then.Plan.Scope != now.Plan.Scope:
		return fmt.Sprintf("Created now it would get %s instead; ", now.Plan.titled()) + then.keeps(kind)
	}
	return differenceWithin(then, now)
}

// differenceWithin is then and now of one and the same plan.
func differenceWithin(then *Then, now *Now) string {
	var differ []string
	if then.Rule != now.Rule {
		differ = append(differ, fmt.Sprintf("the rule (%s, then %s)", now.Rule, then.Rule))
	}
	if pointers := changed(then.Parameters, now.Parameters); len(pointers) > 0 {
		differ = append(differ, "the parameters at "+strings.Join(pointers, ", "))
	}
	if pointers := changed(then.ProvisionParameters, now.ProvisionParameters); len(pointers) > 0 {
		differ = append(differ, "the parameters for its instance at "+strings.Join(pointers, ", "))
	}
	if compact(then.Transforms) != compact(now.Transforms) {
		differ = append(differ, "the secret transforms")
	}
	if len(differ) == 0 {
		return "Created now it would be decided alike."
	}
	return "Created now it would get the same plan; what would differ: " + strings.Join(differ, ", ") + "."
}
