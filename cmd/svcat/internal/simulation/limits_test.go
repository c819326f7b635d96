package simulation

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/defaultplan/defaultplan/webhook/options"
)

// provision has the broker have the instances of a state, of a plan by its names there.
func provision(t *testing.T, state State, name, id string) {
	t.Helper()
	for _, object := range state.Objects {
		if object.GetKind() == kindInstance {
			require.NoError(t, unstructured.SetNestedMap(object.Object, map[string]any{
				"provisionStatus": "Provisioned", "deprovisionStatus": "Required", "asyncOpInProgress": false, "orphanMitigationInProgress": false,
				"reconciledGeneration": int64(1), "observedGeneration": int64(1), "userSpecifiedPlanName": "", "userSpecifiedClassName": "",
				"externalProperties": map[string]any{
					"clusterServicePlanExternalName": name, "clusterServicePlanExternalID": id, "clusterServiceBrokerName": "shop",
				},
			}, "status"))
		}
	}
}

// What its broker has is held against the schema for updates, also where that alone changes.
func TestUpdateSchema(t *testing.T) {
	t.Parallel()
	state := offered(t, options.New(), listing(listed("small", suggested)), instanceA)
	update := catalogChange(listing(listed("small", suggested, `"schemas":{"service_instance":{"update":{"parameters":{"type":"object","required":["size"]}}}}`)))
	assert.Empty(t, simulate(t, state, update).Instances, "it is not made yet")
	provision(t, state, "small", "small")
	assert.Equal(t, []string{"dev/a ParametersRefused > admission webhook \"validate.serviceinsta"}, told(simulate(t, state, update)).Instances)
}

// An object needs the slots that the keeper grants: a binding those of the plan that its
// instance has, and an instance also those of the plan that it has at its broker, until that
// has changed it. It cannot while it works on something else.
func TestSlotsNeeded(t *testing.T) {
	t.Parallel()
	for name, busy := range map[string]bool{"Idle": false, "Busy": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			state := stored(t, options.New(), shop, instanceA, `{kind: ServiceBinding, metadata: {name: b, namespace: dev}, spec: {instanceRef: {name: a}}}`)
			provision(t, state, "small-1", "small")
			want := []string{"large in dev: none -> 1 (0) of 0 bindings"}
			if busy {
				status(t, state, kindInstance, "a", map[string]any{"currentOperation": "Update", "asyncOpInProgress": true})
				want = append(want, "small in dev: none -> 1 (1) of 3 instances")
			}
			changes := applied(t, `{kind: ServiceInstance, metadata: {name: a, namespace: dev}, spec: {clusterServicePlanExternalName: large-1}}
---
{kind: ProvisioningPolicy, metadata: {name: large}, spec: {action: Allow, maxBindings: 0, subjects: [{className: mysql, planName: large-1}]}}
---
{kind: ProvisioningPolicy, metadata: {name: small}, spec: {action: Allow, maxInstances: 3, subjects: [{className: mysql, planName: small-1}]}}`)
			report := simulate(t, state, changes...)
			require.Empty(t, report.Refusals)
			told := told(report)
			assert.Equal(t, []string{"dev/b OverLimit >0 bindings ProvisioningPolicy \"large\" allows 0 bind"}, told.Bindings)
			assert.Equal(t, want, told.Limits)
		})
	}
}

// A limit stays one where no object needs its slots any more.
func TestLimitWithoutUse(t *testing.T) {
	t.Parallel()
	state := stored(t, options.New(), shop, `{kind: ProvisioningPolicy, metadata: {name: p}, spec: {action: Allow, maxInstances: 1, subjects: [{className: mysql}]}}`, instanceA)
	for _, object := range state.Objects {
		object.SetFinalizers(nil)
	}
	report := simulate(t, state, Change{Delete: &Object{Kind: kindInstance, Namespace: "dev", Name: "a"}})
	assert.Equal(t, []string{"p in dev: 1 (1) of 1 -> 0 (0) of 1 instances"}, told(report).Limits)
	assert.Empty(t, report.Changed, "slots are the keeper's")
}
