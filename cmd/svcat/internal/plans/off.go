package plans

import (
	"context"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/catalog"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
)

// Off makes plan the default no longer: its annotation goes first, since a record is
// not cleared under a plan that is annotated, and then the record, if it is this
// plan's. If it ends between the two, the keeper clears the record. A switch that the
// keeper has not confirmed yet it would finish, and annotate the plan again: so that is
// waited for first.
func (s *Switch) Off(ctx context.Context, plan catalog.Plan) error {
	serviceType, err := effectiveType(ctx, s.Client, plan)
	if err != nil {
		return cli.Untouched(err)
	}
	if serviceType == "" {
		return s.offInClass(ctx, plan)
	}
	at, name := client.ObjectKey{Namespace: plan.Object.GetNamespace(), Name: serviceType}, plan.Object.GetName()
	if err := s.confirmed(ctx, at, plan); err != nil {
		return err
	}
	for try, was := 1, false; ; try++ {
		now, err := lookAt(ctx, s.Client, at, name)
		if err != nil {
			return cli.Untouched(err)
		}
		entry := now.plan(name)
		marked := entry != nil && entry.Default
		was = was || now.holds(name)
		if !marked && now.recorded != name {
			return s.tellOff(now, plan, was)
		}
		if err := s.mayClear(ctx, now, name, marked); err != nil {
			return cli.Untouched(err)
		}
		for _, tool := range now.tools[name] {
			warnf(s.Env, "%s applies the default annotation of %s and will put it back; take it out there", tool, now.title(name))
		}
		err = cli.Whole(ctx, "the default of type "+now.kind()+" was cleared", func(ctx context.Context) error { return s.clear(ctx, now, plan, marked) })
		if err == nil {
			return s.tellOff(now, plan, was)
		}
		if !errors.Is(err, errOutrun) {
			return err
		}
		if err := s.tryAgain(ctx, at, try); err != nil {
			return err
		}
	}
}

// confirmed waits until the keeper has confirmed that the plan is the default, if it is
// recorded so. Where no keeper does, none will annotate it.
func (s *Switch) confirmed(ctx context.Context, at client.ObjectKey, plan catalog.Plan) error {
	if !s.Writes.Stores() {
		return nil
	}
	began, told := time.Now(), false
	err := wait.PollUntilContextTimeout(ctx, glance, patience, true, func(ctx context.Context) (bool, error) {
		kept := typeAt(at)
		if err := s.Client.Get(ctx, at, kept); err != nil {
			return true, client.IgnoreNotFound(err)
		}
		view, _ := catalog.TypeOf(kept)
		if view.Record().Plan.Name != plan.Object.GetName() || agreed(view) {
			return true, nil
		}
		if !told && time.Since(began) > silence {
			told = true
			notef(s.Env, "Waiting for the keeper to confirm the default plan for %s", at.Name+in(at.Namespace))
		}
		return false, nil
	})
	if ctx.Err() == nil && wait.Interrupted(err) {
		return nil
	}
	return cli.Untouched(err)
}

// agreed says that record and annotation have agreed since the record was written: to
// the keeper, an annotation that is missing then was taken off.
func agreed(t catalog.Type) bool {
	return t.Status.Confirmed && t.Status.ObservedGeneration == t.Object.GetGeneration() || v1beta1.RecordedByKeeper(t.Object.GetManagedFields())
}

// mayClear tries what comes last first, so that nothing is left half done: without the
// annotation, the keeper clears the record for a user who may not.
func (s *Switch) mayClear(ctx context.Context, now *standing, name string, marked bool) error {
	if now.recorded != name || !s.Writes.Stores() {
		return nil
	}
	if others := now.others(name); len(others) > 0 {
		return fmt.Errorf("%s is annotated still, though it was replaced, and would be the default plan for %s then; "+
			"the keeper has not taken that off yet: try again, or first: svcat set plan %s --default=false%s",
			now.title(others[0]), now.kind(), now.title(others[0]), cli.NamespaceFlag(now.at.Namespace))
	}
	if !marked {
		return nil
	}
	trial := &Switch{Env: s.Env, Client: s.Client, Writes: &cli.WriteFlags{DryRun: "server"}}
	err := trial.record(ctx, now, "")
	if apierrors.IsInvalid(err) || errors.Is(err, errOutrun) {
		return nil // The plan is annotated still, of course.
	}
	return err
}

// clear takes the annotation off and clears the record, as far as they are this
// plan's.
func (s *Switch) clear(ctx context.Context, now *standing, plan catalog.Plan, marked bool) error {
	if marked {
		if err := s.mark(ctx, planAt(client.ObjectKeyFromObject(plan.Object)), nil); err != nil {
			return err
		}
	}
	// In a dry run the plan is annotated still, and the record would be refused.
	if now.recorded != plan.Object.GetName() || !s.Writes.Stores() {
		return nil
	}
	err := s.record(ctx, now, "")
	if apierrors.IsInvalid(err) {
		// The keeper annotated it again, since the switch to it was not confirmed yet.
		return errOutrun
	}
	if marked && err != nil && !errors.Is(err, errOutrun) {
		return fmt.Errorf("the annotation of %s is off, so that the keeper clears the record, and %s has no default then; svcat could not clear it: %w",
			now.title(plan.Object.GetName()), now.kind(), err)
	}
	return err
}

// tellOff prints what is so now.
func (s *Switch) tellOff(now *standing, plan catalog.Plan, was bool) error {
	if was {
		return s.Writes.Say(s.Env, "%s is no longer the default plan for %s", plan.Title(), now.kind())
	}
	if now.holder == nil {
		return s.Writes.Say(s.Env, "%s is not the default plan for %s, which has none", plan.Title(), now.kind())
	}
	return s.Writes.Say(s.Env, "%s is not the default plan for %s; %s is", plan.Title(), now.kind(), now.full(now.holder))
}

// offInClass takes the annotation off a plan without a type: it counts within its
// class alone.
func (s *Switch) offInClass(ctx context.Context, plan catalog.Plan) error {
	if !plan.PlanEntry().Default {
		return s.Writes.Say(s.Env, "%s is not a default plan%s", plan.Title(), in(plan.Object.GetNamespace()))
	}
	object := planAt(client.ObjectKeyFromObject(plan.Object))
	if err := cli.Whole(ctx, "the annotation was taken off", func(ctx context.Context) error { return s.mark(ctx, object, nil) }); err != nil {
		return err
	}
	return s.Writes.Say(s.Env, "%s is no longer the default plan of %s", plan.Title(), "class "+plan.ClassName+in(plan.Object.GetNamespace()))
}
