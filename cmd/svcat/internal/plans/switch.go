package plans

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/catalog"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
)

// tries is how often a write is tried that others keep outrunning.
const tries = 20

// again is how long to wait before a further try, times their number.
const again = 20 * time.Millisecond

// errOutrun says that a type's object was written since it was read.
var errOutrun = errors.New("it was written in between")

// A Switch makes a plan the default of its type, or no longer. The record of the
// type decides: one compare-and-swap of it is the switch, before which nothing has
// changed, and after which no instance gets the old default any more. The annotations
// follow it, and where svcat does not live to see to that, the keeper does.
type Switch struct {
	Env    *cli.Env
	Client client.Client
	Writes *cli.WriteFlags

	// untold says that a dry run changes the type of the plan, too, or makes the plan:
	// admission would judge the switch by what is stored.
	untold bool
	// fresh says that the plan has just got the type: the keeper may have been faster.
	fresh bool
}

// To makes plan the default of its type, in its scope. It prints which plan this very
// switch replaced, if any, and then the new default. If it is the default already, it
// says so, and mends the annotations.
func (s *Switch) To(ctx context.Context, plan catalog.Plan) error {
	serviceType, err := effectiveType(ctx, s.Client, plan)
	if err != nil {
		return cli.Untouched(err)
	}
	if serviceType == "" {
		return fmt.Errorf("plan %s has no service type that it could be the default of; give one, as in --type mysql", plan.Title())
	}
	at := client.ObjectKey{Namespace: plan.Object.GetNamespace(), Name: serviceType}
	before, swapped, err := s.swap(ctx, at, plan.Object.GetName())
	if err != nil {
		return err
	}
	if err := s.tell(before, plan, swapped); err != nil {
		return err
	}
	s.warnOfTools(before, plan.Object.GetName())
	if !s.Writes.Stores() {
		return nil
	}
	return s.follow(ctx, before, plan)
}

// effectiveType is a plan's own type, else that of its class.
func effectiveType(ctx context.Context, reader client.Reader, plan catalog.Plan) (string, error) {
	if plan.Spec.ServiceType != "" {
		return plan.Spec.ServiceType, nil
	}
	class, err := catalog.ClassOfPlan(ctx, reader, plan)
	if apierrors.IsNotFound(err) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	return class.Spec.ServiceType, nil
}

// swap records the plan, if no other client wrote the record since it was read. It
// returns what stood at that very moment, and whether anything had to be recorded.
func (s *Switch) swap(ctx context.Context, at client.ObjectKey, plan string) (*standing, bool, error) {
	for try := 1; ; try++ {
		now, err := lookAt(ctx, s.Client, at, plan)
		if err != nil {
			return nil, false, cli.Untouched(err)
		}
		if now.recorded == plan {
			if !now.holds(plan) {
				return nil, false, fmt.Errorf("%s is recorded as the default plan for %s already, but cannot be chosen: it or its class is being deleted, or was removed from the broker's catalog",
					now.title(plan), now.kind())
			}
			return now, false, nil
		}
		if s.untold {
			warnf(s.Env, "the switch is not tried: admission would judge the plan as it is stored, which this dry run leaves as it is")
			return now, true, nil
		}
		err = cli.Whole(ctx, fmt.Sprintf("%s is the default plan for %s", now.title(plan), now.kind()), func(ctx context.Context) error {
			return s.record(ctx, now, plan)
		})
		if err == nil || !errors.Is(err, errOutrun) {
			return now, true, err
		}
		if err := s.tryAgain(ctx, at, try); err != nil {
			return nil, false, err
		}
	}
}

// tryAgain waits before a further try, or says that there were enough.
func (s *Switch) tryAgain(ctx context.Context, at client.ObjectKey, try int) error {
	if try == tries {
		return fmt.Errorf("cannot change the default plan for %s: others wrote its record %d times meanwhile; nothing was changed, try again", at.Name+in(at.Namespace), tries)
	}
	if try > 2 { // Of a new type, the keeper makes the object meanwhile.
		notef(s.Env, "The record of %s was written meanwhile; trying again (%d of %d)", at.Name, try+1, tries)
	}
	select {
	case <-ctx.Done():
		return cli.Untouched(ctx.Err())
	case <-time.After(time.Duration(try) * again):
		return nil
	}
}

// record makes a plan the recorded default, or with no name records none.
func (s *Switch) record(ctx context.Context, now *standing, plan string) error {
	var ref *v1beta1.PlanObjectReference
	if plan != "" {
		ref = &v1beta1.PlanObjectReference{Name: plan}
	}
	if now.kept == nil {
		kept := typeAt(now.at)
		view, _ := catalog.TypeOf(kept)
		view.Spec.DefaultPlanRef = ref
		err := s.Writes.Create(ctx, s.Client, kept)
		if cli.IsConflict(err) {
			return errOutrun
		}
		return err // Not found is then its kind, or its namespace.
	}
	patch := map[string]any{
		"metadata": map[string]any{"resourceVersion": now.kept.GetResourceVersion()},
		"spec":     map[string]any{"defaultPlanRef": ref},
	}
	err := s.patch(ctx, typeAt(now.at), patch)
	if cli.IsConflict(err) || apierrors.IsNotFound(err) {
		return errOutrun
	}
	return err
}

// patch sends a merge patch.
func (s *Switch) patch(ctx context.Context, object client.Object, patch map[string]any) error {
	data, err := json.Marshal(patch)
	if err != nil {
		return fmt.Errorf("cannot encode a patch: %w", err)
	}
	return s.Writes.Patch(ctx, s.Client, object, client.RawPatch(types.MergePatchType, data))
}

// tell prints what the swap did, from what stood when it was made.
func (s *Switch) tell(before *standing, plan catalog.Plan, swapped bool) error {
	entry := before.plan(plan.Object.GetName())
	if entry == nil {
		entry = new(plan.PlanEntry())
	}
	name, holder := before.bare(entry), before.holder
	same := holder != nil && holder.Name == entry.Name
	if !s.fresh && (same || !swapped) {
		return s.Writes.Say(s.Env, "%s is the default plan for %s already", name, before.kind())
	}
	if holder != nil && !same {
		old := before.bare(holder)
		if old == name {
			old, name = before.full(holder), before.full(entry)
		}
		if err := s.Writes.Say(s.Env, "%s is no longer the default plan for %s", old, before.kind()); err != nil {
			return err
		}
	}
	return s.Writes.Say(s.Env, "%s is the default plan for %s", name, before.kind())
}

// warnOfTools warns of each tool that applies from elsewhere what is switched.
func (s *Switch) warnOfTools(before *standing, plan string) {
	if before.kept != nil && before.recorded != plan {
		for _, tool := range ownersOf(before.kept.GetManagedFields(), "f:spec", "f:defaultPlanRef", "f:name").tools {
			warnf(s.Env, "%s applies the default of type %s and will put its own back; change it there", tool, before.at.Name)
		}
	}
	for _, other := range before.others(plan) {
		for _, tool := range before.tools[other] {
			warnf(s.Env, "%s applies the default annotation of %s, which is refused from now on; take it out there", tool, before.title(other))
		}
	}
}
