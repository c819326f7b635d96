package simulation

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/defaultplan/defaultplan/webhook/options"
)

const instanceA = `{kind: ServiceInstance, metadata: {name: a, namespace: dev}, spec: {serviceType: mysql}}`

// No change changes nothing.
func TestNothing(t *testing.T) {
	t.Parallel()
	report := simulate(t, stored(t, options.New(), shop, instanceA))
	assert.False(t, report.Changes())
	assert.False(t, report.Refused())
}

// A switched default is what types resolve to then, and the instance keeps its plan.
func TestDefault(t *testing.T) {
	t.Parallel()
	report := simulate(t, stored(t, options.New(), shop, instanceA), Change{Default: &Default{Class: "mysql", Plan: "large-1"}})
	require.Len(t, report.Types, 2)
	assert.Equal(t, Type{
		Type: "mysql", Namespace: "dev",
		Now:  Resolution{Plan: "small-1", Class: "mysql", Rule: "cluster-default"},
		Then: Resolution{Plan: "large-1", Class: "mysql", Rule: "cluster-default"},
	}, report.Types[0])
	assert.Equal(t, "prod", report.Types[1].Namespace)
	assert.Empty(t, report.Instances)
	assert.True(t, report.Changes())
	assert.False(t, report.Refused())
}

// Without its default, a type resolves to nothing, and the plan of the instance is gone.
func TestDelete(t *testing.T) {
	t.Parallel()
	report := simulate(t, stored(t, options.New(), shop, instanceA), Change{Delete: &Object{Kind: "ClusterServicePlan", Name: "small"}})
	require.Len(t, report.Types, 2)
	assert.Contains(t, report.Types[0].Then.Refusal, "no plan of that type is a default")
	assert.Equal(t, []Effect{{Namespace: "dev", Name: "a", What: PlanGone, Now: "mysql/small-1", Message: "it does not exist"}}, report.Instances)
	assert.Len(t, report.Refusals, 2)
}

// What waits is decided when there is a catalog.
func TestApply(t *testing.T) {
	t.Parallel()
	report := simulate(t, stored(t, waiting(), instanceA), applied(t, shop)...)
	assert.Equal(t, []Effect{{Namespace: "dev", Name: "a", What: WouldBeDecided, Then: "mysql/small-1"}}, report.Instances)
}

// What stands in place of a parameter's value does not keep an instance from being decided.
func TestParametersUnknown(t *testing.T) {
	t.Parallel()
	const withheld = `{kind: ServiceInstance, metadata: {name: a, namespace: dev}, spec: {serviceType: mysql, parameters: {size: <redacted>}}}`
	whole := listed("small", suggested, `"schemas":{"service_instance":{"create":{"parameters":{"type":"object","properties":{"size":{"type":"integer"}}}}}}`)
	state := offered(t, waiting(), listing(listed("large")), withheld)
	state.ParametersUnknown = true
	report := simulate(t, state, catalogChange(listing(listed("large"), whole)))
	assert.Equal(t, []Effect{{Namespace: "dev", Name: "a", What: WouldBeDecided, Then: "mysql/small"}}, report.Instances)
	assert.Contains(t, report.NotKnown, "whether schemas of plans take parameters: none is asked, because the state comes without them")
}

// What changes nothing that is asked is a change nevertheless, and what is not asked is said.
func TestUnasked(t *testing.T) {
	t.Parallel()
	const policies, offers = "the changed policies refuse: only types are asked", "get by default"
	for name, tc := range map[string]struct {
		reason, manifest string
		changed          []Object
		notKnown         string
	}{
		"BindingPolicy": {
			reason:   "No binding is tried.",
			manifest: `{kind: BindingPolicy, metadata: {name: p}, spec: {action: Deny, subjects: [{className: mysql}]}}`,
			changed:  []Object{{Kind: "BindingPolicy", Name: "p"}}, notKnown: policies,
		},
		"NamedPlan": {
			reason:   "A plan that is no default is had by its name.",
			manifest: `{kind: ProvisioningPolicy, metadata: {name: p}, spec: {action: Deny, subjects: [{planName: huge-1}]}}`,
			changed:  []Object{{Kind: "ProvisioningPolicy", Name: "p"}}, notKnown: policies,
		},
		"DefaultParameters": {
			reason:   "New instances get other parameters of the same plan.",
			manifest: `{kind: ClusterServicePlan, metadata: {name: small}, spec: {defaultProvisionParameters: {size: 7}}}`,
			changed:  []Object{{Kind: "ClusterServicePlan", Name: "small"}}, notKnown: offers,
		},
		"NoChange": {
			reason:   "What is as it was is no change.",
			manifest: `{kind: ClusterServicePlan, metadata: {name: small}, spec: {externalName: small-1}}`,
		},
		"NoNamespace": {
			reason:   "An instance in a namespace that the state lacks may be refused.",
			manifest: `{kind: ServiceInstance, metadata: {name: a, namespace: nope}, spec: {serviceType: mysql}}`,
			notKnown: `whether namespace "nope" of ServiceInstance "a" exists`,
		},
		"Dedicated": {
			reason:   "The controller makes the instance of a binding that names none.",
			manifest: `{kind: ServiceBinding, metadata: {name: b, namespace: dev}, spec: {serviceType: mysql}}`,
			notKnown: `the instance that the controller makes for ServiceBinding "dev/b"`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			report := simulate(t, stored(t, options.New(), shop), applied(t, tc.manifest)...)
			require.Empty(t, report.Refusals, tc.reason)
			assert.Equal(t, tc.changed, report.Changed, tc.reason)
			assert.Equal(t, name != "NoChange", report.Changes(), tc.reason)
			assert.Contains(t, strings.Join(report.NotKnown, "\n"), tc.notKnown, tc.reason)
		})
	}
}
