package e2e_test

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/e2e/stack"
)

// Patches of plans.
const (
	patchOn  = `{"metadata":{"annotations":{"` + api.AnnotationDefaultPlan + `":"true"}}}`
	patchOff = `{"metadata":{"annotations":{"` + api.AnnotationDefaultPlan + `":null}}}`
)

// at is the namespace of what is offered, empty for the cluster's.
func (o *offer) at() string {
	if o.namespaced {
		return o.namespace
	}
	return ""
}

// classOf is a class of the offer by its Kubernetes name.
func (o *offer) classOf(name string) client.Object {
	return class{namespace: o.at(), name: name}.object()
}

// typeOf is a type of the offer, to write to.
func (o *offer) typeOf(serviceType string) client.Object {
	return record(o.at(), serviceType, "")
}

// records makes a plan the recorded default.
func (o *offer) records(serviceType, plan string) {
	o.Helper()
	o.patch(o.typeOf(serviceType), recordOf(plan))
}

// recordOf is a patch of a type.
func recordOf(plan string) string {
	return fmt.Sprintf(`{"spec":{"defaultPlanRef":{"name":%q}}}`, plan)
}

// retype is a patch of a class or plan.
func retype(serviceType string) string {
	return fmt.Sprintf(`{"spec":{"serviceType":%q}}`, serviceType)
}

// drops says that the broker has the plan no more, or has it again.
func (o *offer) drops(plan string, is bool) {
	o.Helper()
	patch := client.RawPatch(types.MergePatchType, fmt.Appendf(nil, `{"status":{"removedFromBrokerCatalog":%t}}`, is))
	require.NoError(o, o.client.Status().Patch(o.Context(), o.objectOf(plan), patch))
}

// removes deletes an object.
func (o *offer) removes(object client.Object) {
	o.Helper()
	require.NoError(o, o.client.Delete(o.Context(), object))
}

// isRefused asserts that a write was refused because that plan holds the default,
// as the denial says it.
func (o *offer) isRefused(err error, plan, holds string) {
	o.Helper()
	require.True(o, apierrors.IsForbidden(err), "%v", err)
	assert.Contains(o, err.Error(), fmt.Sprintf("ServicePlan %q", o.name(plan)))
	assert.Contains(o, err.Error(), holds)
}

// comesTo waits until the defaults of the offer are so: the record of both types
// and what is annotated, as in "type=plan strange= plan*". A record that is not
// confirmed is followed by a question mark, and "gone" is a type without object.
func (o *offer) comesTo(want, reason string) {
	o.Helper()
	ctx, cancel := context.WithTimeout(o.Context(), settleTimeout)
	defer cancel()
	require.NoError(o, stack.Eventually(ctx, func() (bool, error) {
		got, err := o.defaults()
		if err != nil || got == want {
			return err == nil, err
		}
		return false, fmt.Errorf("%s: it is %q, not %q", reason, got, want)
	}))
}

func (o *offer) defaults() (string, error) {
	var parts, annotated []string
	for _, word := range []string{"type", "strange"} {
		now, err := o.glanceAt(o.scope, o.name(word))
		if err != nil {
			return "", err
		}
		value := strings.TrimSuffix(now.record, "-"+o.suffix)
		switch {
		case !now.kept:
			value = "gone"
		case value != "" && !now.confirmed:
			value += "?"
		}
		parts, annotated = append(parts, word+"="+value), now.annotated
	}
	for _, name := range slices.Sorted(slices.Values(annotated)) {
		parts = append(parts, strings.TrimSuffix(name, "-"+o.suffix)+"*")
	}
	return strings.Join(parts, " "), nil
}

// gives asserts that an instance which names only the type gets that plan; it is
// refused if the plan is empty. Where something was just written that only a cache
// may tell, it waits.
func (o *offer) gives(serviceType, plan string) {
	o.Helper()
	if plan != "" {
		plan = o.name(plan)
	}
	o.eventually(func() (bool, error) {
		probe := o.instance("probe", ofType(serviceType))
		err := o.client.Create(o.Context(), probe, client.DryRunAll)
		if err == nil && planOf(probe) == plan || apierrors.IsInvalid(err) && plan == "" {
			return true, nil
		}
		return false, fmt.Errorf("type %q gives %q, not %q: %w", serviceType, planOf(probe), plan, err)
	})
}

// ambiguity is what a type says of several plans that claim to be its default.
func ambiguity(kept client.Object) api.Condition {
	var said api.Condition
	switch t := kept.(type) {
	case *api.ClusterServiceType:
		said, _ = api.FindCondition(t.Status.Conditions, api.ConditionAmbiguous)
	case *api.ServiceType:
		said, _ = api.FindCondition(t.Status.Conditions, api.ConditionAmbiguous)
	}
	return said
}
