package offering

import (
	"fmt"
	"slices"
	"strings"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/e2e/env"
	"github.com/defaultplan/defaultplan/e2e/stack/wait"
)

// Patches of plans.
const (
	PatchOn  = `{"metadata":{"annotations":{"` + api.AnnotationDefaultPlan + `":"true"}}}`
	PatchOff = `{"metadata":{"annotations":{"` + api.AnnotationDefaultPlan + `":null}}}`
)

// Records makes a plan the recorded default.
func (o *Offer) Records(serviceType, plan string) {
	o.Helper()
	o.Patch(o.TypeObject(serviceType), RecordOf(plan))
}

// RecordOf is a patch of a type.
func RecordOf(plan string) string {
	return fmt.Sprintf(`{"spec":{"defaultPlanRef":{"name":%q}}}`, plan)
}

// Retype is a patch of a class or plan.
func Retype(serviceType string) string {
	return fmt.Sprintf(`{"spec":{"serviceType":%q}}`, serviceType)
}

// Drops says that the broker has the plan no more, or has it again.
func (o *Offer) Drops(plan string, is bool) {
	o.Helper()
	patch := client.RawPatch(types.MergePatchType, fmt.Appendf(nil, `{"status":{"removedFromBrokerCatalog":%t}}`, is))
	require.NoError(o, o.Client().Status().Patch(o.Context(), o.PlanObject(plan), patch))
}

// Removes deletes an object.
func (o *Offer) Removes(object client.Object) {
	o.Helper()
	require.NoError(o, o.Client().Delete(o.Context(), object))
}

// IsRefused asserts that a write was refused because that plan holds the default,
// as the denial says it.
func (o *Offer) IsRefused(err error, plan, holds string) {
	o.Helper()
	require.True(o, apierrors.IsForbidden(err), "%v", err)
	assert.Contains(o, err.Error(), fmt.Sprintf("ServicePlan %q", o.Name(plan)))
	assert.Contains(o, err.Error(), holds)
}

// ComesTo waits until the defaults of the offer are so: the record of both types
// and what is annotated, as in "type=plan strange= plan*". A record that is not
// confirmed is followed by a question mark, and "gone" is a type without object.
func (o *Offer) ComesTo(want, reason string) {
	o.Helper()
	require.NoError(o, wait.EventuallyWithin(o.Context(), SettleTimeout, func() (bool, error) {
		got, err := o.defaults()
		if err != nil || got == want {
			return err == nil, err
		}
		return false, fmt.Errorf("%s: it is %q, not %q", reason, got, want)
	}))
}

func (o *Offer) defaults() (string, error) {
	var parts, annotated []string
	for _, word := range []string{"type", "strange"} {
		now, err := GlanceAt(o.Env, o.Scope, o.Name(word))
		if err != nil {
			return "", err
		}
		value := strings.TrimSuffix(now.Record, "-"+o.Suffix)
		switch {
		case !now.Kept:
			value = "gone"
		case value != "" && !now.Confirmed:
			value += "?"
		}
		parts, annotated = append(parts, word+"="+value), now.Annotated
	}
	for _, name := range slices.Sorted(slices.Values(annotated)) {
		parts = append(parts, strings.TrimSuffix(name, "-"+o.Suffix)+"*")
	}
	return strings.Join(parts, " "), nil
}

// Gives asserts that an instance which names only the type gets that plan; it is
// refused if the plan is empty. Where something was just written that only a cache
// may tell, it waits.
func (o *Offer) Gives(serviceType, plan string) {
	o.Helper()
	if plan != "" {
		plan = o.Name(plan)
	}
	o.Eventually(func() (bool, error) {
		probe := o.Instance("probe", env.OfType(serviceType))
		err := o.Client().Create(o.Context(), probe, client.DryRunAll)
		if err == nil && env.PlanOf(probe) == plan || apierrors.IsInvalid(err) && plan == "" {
			return true, nil
		}
		return false, fmt.Errorf("type %q gives %q, not %q: %w", serviceType, env.PlanOf(probe), plan, err)
	})
}

// Ambiguity is what a type says of several plans that claim to be its default.
func Ambiguity(kept client.Object) api.Condition {
	var said api.Condition
	switch t := kept.(type) {
	case *api.ClusterServiceType:
		said, _ = api.FindCondition(t.Status.Conditions, api.ConditionAmbiguous)
	case *api.ServiceType:
		said, _ = api.FindCondition(t.Status.Conditions, api.ConditionAmbiguous)
	}
	return said
}
