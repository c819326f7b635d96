package simulation

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/simulation/world"
	"github.com/defaultplan/defaultplan/webhook/options"
)

const (
	instanceB = `{kind: ServiceInstance, metadata: {name: b, namespace: dev}, spec: {serviceType: mysql}}`
	largeA    = `{kind: ServiceInstance, metadata: {name: a, namespace: dev}, spec: {clusterServicePlanExternalName: large-1}}`
	bindingA  = `{kind: ServiceBinding, metadata: {name: c, namespace: dev}, spec: {instanceRef: {name: a}}}`
	// oneSmall grants one slot for what noSmall grants none for.
	oneSmall   = `{kind: ProvisioningPolicy, metadata: {name: one}, spec: {action: Limit, maxInstances: 1, subjects: [{className: mysql, planName: small-1}]}}`
	noSmall    = `{kind: ProvisioningPolicy, metadata: {name: zero}, spec: {action: Limit, maxInstances: 0, subjects: [{className: mysql, planName: small-1}]}}`
	denyLarge  = `{kind: ProvisioningPolicy, metadata: {name: deny}, spec: {action: Deny, subjects: [{className: mysql, planName: large-1}]}}`
	denySmall  = `{kind: ProvisioningPolicy, metadata: {name: deny}, spec: {action: Deny, subjects: [{className: mysql, planName: small-1}]}}`
	noBindings = `{kind: ProvisioningPolicy, metadata: {name: zero}, spec: {action: Limit, maxBindings: 0, subjects: [{className: mysql}]}}`
)

// status writes some of the status of an object of a state.
func status(t *testing.T, state State, kind, name string, fields map[string]any) {
	t.Helper()
	for _, object := range state.Objects {
		if object.GetKind() != kind || object.GetName() != name {
			continue
		}
		of, _, err := unstructured.NestedMap(object.Object, "status")
		require.NoError(t, err)
		if of == nil {
			of = map[string]any{}
		}
		of["observedGeneration"] = object.GetGeneration()
		maps.Copy(of, fields)
		require.NoError(t, unstructured.SetNestedMap(object.Object, of, "status"))
	}
}

// waitsForASlot has an object wait for a slot, as the controller says it.
func waitsForASlot(t *testing.T, state State, kind, name string) {
	t.Helper()
	readyIs(t, state, kind, name, "Unknown", "WaitingForSlot")
}

// readyIs gives an object the condition Ready, for what was observed of it.
func readyIs(t *testing.T, state State, kind, name, is, reason string) {
	t.Helper()
	status(t, state, kind, name, map[string]any{"conditions": []any{
		map[string]any{"type": "Ready", "status": is, "reason": reason, "message": "", "lastTransitionTime": "2026-01-01T00:00:00Z"},
	}})
}

// What a change has brokers do is done before the next change: what exists at a broker keeps its
// slot, and what went frees it.
func TestBrokersAnswer(t *testing.T) {
	t.Parallel()
	waits := func(kind, name string) func(t *testing.T, state State) {
		return func(t *testing.T, state State) { waitsForASlot(t, state, kind, name) }
	}
	bound := func(t *testing.T, state State) {
		provision(t, state, "small-1", "small")
		waitsForASlot(t, state, kindBinding, "c")
	}
	cases := map[string]struct {
		reason string
		texts  []string
		state  func(t *testing.T, state State)
		// changes are manifests, and KIND/NAME of what is deleted.
		changes []string
		want    []string
	}{
		"Provisioned": {
			reason: "It was provisioned before the second policy came, and keeps its slots.", texts: []string{oneSmall},
			changes: []string{instanceA, noSmall},
			want:    []string{"one in dev: 0 (0) of 1 -> 1 (1) of 1 instances", "zero in dev: none -> 1 (1) of 0 instances"},
		},
		"WithoutSlot": {
			reason: "The one that waits has no slot still.", texts: []string{instanceA, instanceB, oneSmall},
			state: waits(kindInstance, "b"), changes: []string{noSmall},
			want: []string{"one in dev: 2 (1) of 1 -> 2 (0) of 1 instances", "zero in dev: none -> 2 (0) of 0 instances"},
		},
		"StoodStill": {
			reason: "What was not provisioned for a reason that is not known is not now.", texts: []string{oneSmall, instanceA},
			changes: []string{denyLarge, noSmall},
			want:    []string{"one in dev: 1 (1) of 1 -> 1 (0) of 1 instances", "zero in dev: none -> 1 (0) of 0 instances"},
		},
		"Annotated": {
			reason: "As long as its spec is what the controller observed.", texts: []string{oneSmall, instanceA},
			state:   func(t *testing.T, state State) { status(t, state, kindInstance, "a", nil) },
			changes: []string{strings.Replace(instanceA, "name: a,", "name: a, annotations: {example.com/a: b},", 1), noSmall},
			want:    []string{"one in dev: 1 (1) of 1 -> 1 (0) of 1 instances", "zero in dev: none -> 1 (0) of 0 instances"},
		},
		"SlotFreed": {
			reason: "The slot of an instance that went lets the one that waited for it be provisioned.", texts: []string{instanceA, instanceB, oneSmall},
			state: waits(kindInstance, "b"), changes: []string{"ServiceInstance/a", noSmall},
			want: []string{"one in dev: 2 (1) of 1 -> 1 (1) of 1 instances", "zero in dev: none -> 1 (1) of 0 instances"},
		},
		"Denied": {
			reason: "A policy denies what waited for a slot.", texts: []string{instanceA, instanceB, oneSmall},
			state: waits(kindInstance, "b"), changes: []string{denySmall, "ServiceInstance/a", noSmall},
			want: []string{"one in dev: 2 (1) of 1 -> 1 (0) of 1 instances", "zero in dev: none -> 1 (0) of 0 instances"},
		},
		"Updated": {
			reason: "The slot that a change of plan frees is for the one that waits.", texts: []string{instanceA, instanceB, oneSmall},
			state: func(t *testing.T, state State) {
				waitsForASlot(t, state, kindInstance, "b")
				status(t, state, kindInstance, "a", map[string]any{
					"provisionStatus": "Provisioned", "deprovisionStatus": "Required",
					"externalProperties": map[string]any{"clusterServicePlanExternalName": "small-1", "clusterServicePlanExternalID": "small", "clusterServiceBrokerName": "shop"},
				})
			},
			changes: []string{largeA, noSmall},
			want:    []string{"one in dev: 2 (1) of 1 -> 1 (1) of 1 instances", "zero in dev: none -> 1 (1) of 0 instances"},
		},
		"Bound": {
			reason: "What is bound keeps its slot.", changes: []string{instanceA, bindingA, noBindings},
			want: []string{"zero in dev: none -> 1 (1) of 0 bindings"},
		},
		"NotBound": {
			reason: "What was not provisioned is not bound to.", texts: []string{instanceA}, changes: []string{bindingA, noBindings},
			want: []string{"zero in dev: none -> 1 (0) of 0 bindings"},
		},
		"BindingAnnotated": {
			reason: "As with an instance.", texts: []string{instanceA, bindingA},
			state: func(t *testing.T, state State) {
				provision(t, state, "small-1", "small")
				status(t, state, kindBinding, "c", nil)
			},
			changes: []string{strings.Replace(bindingA, "name: c,", "name: c, annotations: {example.com/a: b},", 1), noBindings},
			want:    []string{"zero in dev: none -> 1 (0) of 0 bindings"},
		},
		"BindingWaited": {
			reason: "A binding that waited for its slot is bound.", texts: []string{instanceA, bindingA}, state: bound,
			changes: []string{denyLarge, noBindings}, want: []string{"zero in dev: none -> 1 (1) of 0 bindings"},
		},
		"BindableThen": {
			reason: "A binding is bound that its instance's former plan was not for.", texts: []string{instanceA, bindingA},
			state: func(t *testing.T, state State) {
				provision(t, state, "small-1", "small")
				status(t, state, kindBinding, "c", map[string]any{"conditions": []any{
					map[string]any{"type": "Ready", "status": "False", "reason": "ErrorNonbindableServiceClass", "message": "", "lastTransitionTime": "2026-01-01T00:00:00Z"},
				}})
				for _, object := range state.Objects {
					if object.GetName() == "small" {
						require.NoError(t, unstructured.SetNestedField(object.Object, false, "spec", "bindable"))
					}
				}
			},
			changes: []string{largeA, noBindings}, want: []string{"zero in dev: none -> 1 (1) of 0 bindings"},
		},
		"BindingDenied": {
			reason: "A policy denies the binding that waited.", texts: []string{instanceA, bindingA}, state: bound,
			changes: []string{denySmall, noBindings}, want: []string{"zero in dev: none -> 1 (0) of 0 bindings"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			state := stored(t, options.New(), append([]string{shop}, tc.texts...)...)
			if tc.state != nil {
				tc.state(t, state)
			}
			report := simulate(t, state, changesOf(t, tc.changes)...)
			require.False(t, report.Refused(), "%v", report.Refusals)
			assert.Equal(t, tc.want, told(report).Limits, tc.reason)
		})
	}
}

func changesOf(t *testing.T, words []string) []Change {
	t.Helper()
	var changes []Change
	for _, word := range words {
		if kind, name, is := strings.Cut(word, "/"); is && !strings.HasPrefix(word, "{") {
			changes = append(changes, Change{Delete: &Object{Kind: kind, Namespace: "dev", Name: name}})
			continue
		}
		changes = append(changes, applied(t, word)...)
	}
	return changes
}

// What is deleted goes once nothing holds it: a binding, another finalizer, or what runs at its
// broker.
func TestDeletionsEnd(t *testing.T) {
	t.Parallel()
	bound := func(t *testing.T, state State) {
		status(t, state, kindBinding, "c", map[string]any{"unbindStatus": "Required", "externalProperties": map[string]any{}})
	}
	const deleted, deleting = "dev/a Deleted mysql/small-1>", "dev/a Deleting mysql/small-1>"
	cases := map[string]struct {
		reason  string
		texts   []string
		state   func(t *testing.T, state State)
		changes []string
		want    expectation
	}{
		"Alone":         {reason: "Nothing holds it.", texts: []string{instanceB, strings.Replace(bindingA, "name: a", "name: b", 1)}, changes: []string{"ServiceInstance/a"}, want: expectation{Instances: []string{deleted}}},
		"Bound":         {reason: "Its binding holds it.", texts: []string{bindingA}, state: bound, changes: []string{"ServiceInstance/a"}, want: expectation{Instances: []string{deleting}}},
		"NeverBound":    {reason: "A binding that is not at its broker holds nothing.", texts: []string{bindingA}, changes: []string{"ServiceInstance/a"}, want: expectation{Instances: []string{deleted}}},
		"BindingFirst":  {reason: "Its binding went.", texts: []string{bindingA}, state: bound, changes: []string{"ServiceBinding/c", "ServiceInstance/a"}, want: expectation{Instances: []string{deleted}, Bindings: []string{"dev/c Deleted mysql/small-1>"}}},
		"InstanceFirst": {reason: "Its binding goes later.", texts: []string{bindingA}, state: bound, changes: []string{"ServiceInstance/a", "ServiceBinding/c"}, want: expectation{Instances: []string{deleted}, Bindings: []string{"dev/c Deleted mysql/small-1>"}}},
		"DeletedBefore": {
			reason: "It was being deleted, and the binding that held it goes.", texts: []string{bindingA}, changes: []string{"ServiceBinding/c"},
			state: func(t *testing.T, state State) {
				bound(t, state)
				edited(t, state, kindInstance, map[string]any{"metadata.deletionTimestamp": "2026-01-01T00:00:00Z"})
			},
			want: expectation{Instances: []string{deleted}, Bindings: []string{"dev/c Deleted mysql/small-1>"}},
		},
		"Cascade": {
			reason: "Its bindings go with it, as its annotation says.", texts: []string{bindingA}, changes: []string{"ServiceInstance/a"},
			state: func(t *testing.T, state State) {
				bound(t, state)
				edited(t, state, kindInstance, map[string]any{"metadata.annotations": map[string]any{v1beta1.AnnotationCascade: "true"}})
			},
			want: expectation{Instances: []string{deleted}, Bindings: []string{"dev/c Deleted mysql/small-1>"}},
		},
		"Abandoned": {
			reason: "An abandoned instance goes though it is bound.", texts: []string{bindingA}, changes: []string{"ServiceInstance/a"},
			state: func(t *testing.T, state State) {
				bound(t, state)
				edited(t, state, kindInstance, map[string]any{"metadata.annotations": map[string]any{v1beta1.AnnotationAbandon: "true"}})
			},
			want: expectation{Instances: []string{deleted}},
		},
		"AbandonedRunning": {
			reason: "What runs at its broker is not waited for, either.", texts: []string{bindingA}, changes: []string{"ServiceBinding/c", "ServiceInstance/a"},
			state: func(t *testing.T, state State) {
				status(t, state, kindInstance, "a", map[string]any{"currentOperation": "Provision", "asyncOpInProgress": true})
				status(t, state, kindBinding, "c", map[string]any{"currentOperation": "Bind", "unbindStatus": "Required"})
				for _, kind := range []string{kindInstance, kindBinding} {
					edited(t, state, kind, map[string]any{"metadata.annotations": map[string]any{v1beta1.AnnotationAbandon: "true"}})
				}
			},
			want: expectation{Instances: []string{deleted}, Bindings: []string{"dev/c Deleted mysql/small-1>"}},
		},
		"Running": {
			reason: "What runs at its broker may end in either way.", changes: []string{"ServiceInstance/a"},
			state: func(t *testing.T, state State) {
				status(t, state, kindInstance, "a", map[string]any{"currentOperation": "Provision", "asyncOpInProgress": true})
			},
			want: expectation{Instances: []string{deleting}},
		},
		"BindingRunning": {
			reason: "As with an instance.", texts: []string{bindingA}, changes: []string{"ServiceBinding/c"},
			state: func(t *testing.T, state State) {
				status(t, state, kindBinding, "c", map[string]any{"currentOperation": "Bind"})
			},
			want: expectation{Bindings: []string{"dev/c Deleting mysql/small-1>"}},
		},
		"Finalizer": {
			reason: "It has a finalizer of another controller.", changes: []string{"ServiceInstance/a"},
			state: func(_ *testing.T, state State) {
				for _, object := range state.Objects {
					if object.GetKind() == kindInstance {
						object.SetFinalizers(append(object.GetFinalizers(), "example.com/other"))
					}
				}
			},
			want: expectation{Instances: []string{deleting}},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			state := stored(t, options.New(), append([]string{shop, instanceA}, tc.texts...)...)
			if tc.state != nil {
				tc.state(t, state)
			}
			got := told(simulate(t, state, changesOf(t, tc.changes)...))
			assert.Equal(t, tc.want, expectation{Instances: got.Instances, Bindings: got.Bindings}, tc.reason)
		})
	}
}

// Nothing is told of the plan of an object that is being deleted: it gets no other one.
func TestPlanOfWhatIsDeleted(t *testing.T) {
	t.Parallel()
	plan := Change{Delete: &Object{Kind: "ClusterServicePlan", Name: "small"}}
	deletion := Change{Delete: &Object{Kind: kindInstance, Namespace: "dev", Name: "a"}}
	state := stored(t, options.New(), shop, instanceA, bindingA)
	status(t, state, kindBinding, "c", map[string]any{"unbindStatus": "Required", "externalProperties": map[string]any{}})
	got := told(simulate(t, state, deletion, plan))
	assert.Equal(t, []string{"dev/a Deleting mysql/small-1>"}, got.Instances)
	edited(t, state, kindInstance, map[string]any{"metadata.deletionTimestamp": "2026-01-01T00:00:00Z"})
	got = told(simulate(t, state, plan))
	assert.Empty(t, got.Instances)
	assert.Equal(t, []string{"dev/c PlanGone mysql/small-1> it does not exist"}, got.Bindings)
}

// The instance that is dedicated to a binding goes with it, and frees its slot.
func TestDedicatedGoesWithItsBinding(t *testing.T) {
	t.Parallel()
	state := stored(t, options.New(), shop, instanceA, instanceB, `{kind: ServiceBinding, metadata: {name: c, namespace: dev}, spec: {serviceType: mysql}}`, oneSmall)
	of := slices.IndexFunc(state.Objects, func(o *unstructured.Unstructured) bool { return o.GetKind() == kindBinding })
	owner := metav1.NewControllerRef(state.Objects[of], v1beta1.GroupVersion.WithKind(kindBinding))
	binding := &v1beta1.ServiceBinding{ObjectMeta: metav1.ObjectMeta{Name: "c", Namespace: "dev", UID: owner.UID}}
	own := binding.InstanceKey().Name
	for _, object := range state.Objects {
		if object.GetKind() == kindInstance && object.GetName() == "a" {
			object.SetName(own)
			object.SetOwnerReferences([]metav1.OwnerReference{*owner})
		}
	}
	status(t, state, kindBinding, "c", map[string]any{"unbindStatus": "Required", "externalProperties": map[string]any{}})
	waitsForASlot(t, state, kindInstance, "b")
	got := told(simulate(t, state, changesOf(t, []string{"ServiceBinding/c", noSmall})...))
	assert.Equal(t, []string{"dev/c Deleted mysql/small-1>"}, got.Bindings)
	assert.Contains(t, got.Instances, "dev/"+own+" Deleted mysql/small-1>")
	assert.Equal(t, []string{"one in dev: 2 (1) of 1 -> 1 (1) of 1 instances", "zero in dev: none -> 1 (1) of 0 instances"}, got.Limits)
}

// edited is a state with other fields of an object, by their paths.
func edited(t *testing.T, state State, kind string, fields map[string]any) {
	t.Helper()
	for _, object := range state.Objects {
		for path, value := range fields {
			if object.GetKind() == kind {
				require.NoError(t, unstructured.SetNestedField(object.Object, value, strings.Split(path, ".")...))
			}
		}
	}
}

// The controller asks a broker for what can be asked for, once.
func TestWhatBrokersAreAsked(t *testing.T) {
	t.Parallel()
	now := "2026-01-01T00:00:00Z"
	has := map[string]any{"clusterServicePlanExternalName": "small-1", "clusterServicePlanExternalID": "small", "planExternalID": "small", "clusterServiceBrokerName": "shop"}
	cases := map[string]struct {
		reason string
		// instance, binding, plan and class are fields that are otherwise, by their paths.
		instance, binding, plan, class map[string]any
		// provisioned and bound say what is made.
		provisioned, bound bool
	}{
		"Both":      {reason: "Nothing is in the way.", provisioned: true, bound: true},
		"Undecided": {reason: "It has no plan.", instance: map[string]any{"spec.clusterServicePlanRef": nil}},
		"Observed":  {reason: "It stands still for another reason than a slot.", instance: map[string]any{"status.conditions": []any{}}},
		"Unlisted":  {reason: "Its broker does not offer it any more.", plan: map[string]any{"status.removedFromBrokerCatalog": true}},
		"UnlistedAdopted": {
			reason:   "What exists is adopted though it is not offered.",
			plan:     map[string]any{"status.removedFromBrokerCatalog": true},
			instance: map[string]any{"metadata.annotations": map[string]any{"servicecatalog.kubernetes.io/adopt": "true"}}, provisioned: true, bound: true,
		},
		"UnlistedChanged": {
			reason: "What was adopted does not get a plan that is not offered.",
			plan:   map[string]any{"status.removedFromBrokerCatalog": true}, bound: true,
			instance: map[string]any{
				"metadata.annotations":   map[string]any{"servicecatalog.kubernetes.io/adopt": "true"},
				"status.provisionStatus": "Provisioned", "status.externalProperties": map[string]any{"clusterServicePlanExternalID": "large", "planExternalID": "large", "clusterServiceBrokerName": "shop"},
			},
		},
		"NotUpdatable": {
			reason: "Its plan says that it cannot be changed.",
			class:  map[string]any{"spec.planUpdatable": false}, bound: true,
			instance: map[string]any{
				"status.provisionStatus":    "Provisioned",
				"status.externalProperties": map[string]any{"clusterServicePlanExternalID": "large", "planExternalID": "large", "classExternalID": "db", "clusterServiceBrokerName": "shop"},
			},
		},
		"Running":           {reason: "Its broker works on it.", instance: map[string]any{"status.asyncOpInProgress": true}},
		"NotBindable":       {reason: "Its class is not for bindings.", class: map[string]any{"spec.bindable": false}, provisioned: true},
		"Unusable":          {reason: "Its broker says that it cannot be used.", instance: map[string]any{"status.unusable": true, "status.provisionStatus": "Provisioned", "status.externalProperties": has}},
		"Changing":          {reason: "It is being changed.", instance: map[string]any{"status.currentOperation": "Update", "status.provisionStatus": "Provisioned", "status.externalProperties": has}},
		"Abandoned":         {reason: "It is not at its broker any more.", instance: map[string]any{"status.conditions": []any{}, "status.externalProperties": has}},
		"InstanceLeaves":    {reason: "Its instance is being deleted.", binding: map[string]any{"status.unbindStatus": "Required"}, instance: map[string]any{"metadata.deletionTimestamp": now, "status.provisionStatus": "Provisioned", "status.externalProperties": has}},
		"BindingUndecided":  {reason: "Its defaults are not merged.", binding: map[string]any{"spec.clusterServicePlanRef": nil}, provisioned: true},
		"BindingSent":       {reason: "Its broker may have bound it.", binding: map[string]any{"status.inProgressProperties": map[string]any{}}, provisioned: true},
		"BindingMitigated":  {reason: "It is being removed at its broker.", binding: map[string]any{"status.orphanMitigationInProgress": true}, provisioned: true},
		"BindingWaits":      {reason: "It waits for its instance.", binding: map[string]any{"status.conditions": []any{}}, provisioned: true, bound: true},
		"BindingObserved":   {reason: "It stands still for another reason.", binding: map[string]any{"status.conditions": []any{}}, instance: map[string]any{"status.provisionStatus": "Provisioned", "status.externalProperties": has}},
		"BindingWithoutOne": {reason: "A policy grants it no slot.", plan: map[string]any{"metadata.labels": map[string]any{"size": "huge"}}, provisioned: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			state := stored(t, options.New(), shop, instanceA, bindingA, `{kind: ProvisioningPolicy, metadata: {name: zero}, spec: {action: Limit, maxBindings: 0, subjects: [{className: mysql, planSelector: {matchLabels: {size: huge}}}]}}`)
			waitsForASlot(t, state, kindInstance, "a")
			waitsForASlot(t, state, kindBinding, "c")
			edited(t, state, kindInstance, tc.instance)
			edited(t, state, kindBinding, tc.binding)
			edited(t, state, "ClusterServicePlan", tc.plan)
			edited(t, state, "ClusterServiceClass", tc.class)
			cluster := restored(t, state)
			w, err := world.New(cluster, state.Options)
			require.NoError(t, err)
			before := len(w.NotKnown())
			require.NoError(t, w.Answer(t.Context()))
			var instance v1beta1.ServiceInstance
			var binding v1beta1.ServiceBinding
			require.NoError(t, cluster.Reader().Get(t.Context(), world.At("dev", "a"), &instance))
			require.NoError(t, cluster.Reader().Get(t.Context(), world.At("dev", "c"), &binding))
			wrote := map[string]bool{}
			for _, change := range w.Changes() {
				wrote[change.Kind] = true
			}
			want := map[string]bool{}
			if tc.provisioned {
				want[kindInstance] = true
				assert.Equal(t, "small", instance.Status.ExternalProperties.PlanExternalID, tc.reason)
				assert.Equal(t, v1beta1.DeprovisionRequired, instance.Status.DeprovisionStatus)
				assert.Equal(t, []int64{instance.Generation, instance.Generation}, []int64{instance.Status.ObservedGeneration, instance.Status.ReconciledGeneration})
			}
			if tc.bound {
				want[kindBinding] = true
				assert.Equal(t, v1beta1.UnbindRequired, binding.Status.UnbindStatus)
				assert.True(t, binding.Status.Started())
				assert.Equal(t, []int64{binding.Generation, binding.Generation}, []int64{binding.Status.ObservedGeneration, binding.Status.ReconciledGeneration})
			}
			assert.Equal(t, want, wrote, tc.reason)
			assert.Len(t, w.NotKnown()[before:], map[bool]int{true: 1}[len(want) > 0], "it ends")
			count := len(w.Changes())
			require.NoError(t, w.Answer(t.Context()))
			assert.Len(t, w.Changes(), count)
		})
	}
}

// A binding to an instance of another namespace is bound as long as that is shared with its own.
func TestBoundAsLongAsShared(t *testing.T) {
	t.Parallel()
	const (
		sharing = `, sharing: {namespaces: [prod]}}}`
		away    = `{kind: ServiceBinding, metadata: {name: c, namespace: prod}, spec: {instanceRef: {name: a, namespace: dev}}}`
	)
	for name, tc := range map[string]struct {
		reason string
		// instance are fields that are otherwise when the binding has waited for its slot.
		instance map[string]any
		granted  string
	}{
		"Shared":    {reason: "Nothing is in the way.", granted: "1 (1)"},
		"ByLabel":   {reason: "Its namespace has the label.", instance: map[string]any{"spec.sharing": map[string]any{"namespaceSelector": map[string]any{"matchLabels": map[string]any{"stage": "prod"}}}}, granted: "1 (1)"},
		"OtherOnly": {reason: "It is shared with another one.", instance: map[string]any{"spec.sharing": map[string]any{"namespaceSelector": map[string]any{"matchLabels": map[string]any{"stage": "dev"}}}}, granted: "1 (0)"},
		"Withdrawn": {reason: "Sharing was withdrawn.", instance: map[string]any{"spec.sharing": nil}, granted: "1 (0)"},
		"Dedicated": {reason: "It is another binding's own.", instance: map[string]any{"metadata.ownerReferences": []any{
			map[string]any{"apiVersion": "servicecatalog.k8s.io/v1beta1", "kind": kindBinding, "name": "other", "uid": "other", "controller": true},
		}}, granted: "1 (0)"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			state := stored(t, options.New(), shop, strings.Replace(instanceA, "}}", sharing, 1), away)
			provision(t, state, "small-1", "small")
			waitsForASlot(t, state, kindBinding, "c")
			edited(t, state, kindInstance, tc.instance)
			report := simulate(t, state, changesOf(t, []string{denyLarge, noBindings})...)
			require.False(t, report.Refused(), "%v", report.Refusals)
			assert.Equal(t, []string{"zero in prod: none -> " + tc.granted + " of 0 bindings"}, told(report).Limits, tc.reason)
		})
	}
}

// A binding to an instance that is not shared with its namespace any more goes where the sharing says so.
func TestUnboundWhereSharingIsWithdrawn(t *testing.T) {
	t.Parallel()
	const away = `{kind: ServiceBinding, metadata: {name: c, namespace: prod}, spec: {instanceRef: {name: a, namespace: dev}}}`
	shared := func(with, withdrawn string) string {
		return strings.Replace(instanceA, "}}", fmt.Sprintf(`, sharing: {namespaces: [%s], whenWithdrawn: %s}}}`, with, withdrawn), 1)
	}
	for name, tc := range map[string]struct {
		change string
		want   []string
	}{
		"Withdrawn": {change: shared("other", "Unbind"), want: []string{"prod/c Deleted mysql/small-1>"}},
		"Kept":      {change: shared("other", `""`)},
		"Still":     {change: shared("prod, other", "Unbind")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			state := stored(t, options.New(), shop, shared("prod", "Unbind"), away, bindingA)
			provision(t, state, "small-1", "small")
			status(t, state, kindBinding, "c", map[string]any{"unbindStatus": "Required", "externalProperties": map[string]any{}})
			report := simulate(t, state, changesOf(t, []string{tc.change})...)
			require.False(t, report.Refused(), "%v", report.Refusals)
			assert.Equal(t, tc.want, told(report).Bindings)
		})
	}
}

// What brokers have done is not looked at again, or many manifests would take the square of their time.
func TestAnswersLeaveWhatIsDone(t *testing.T) { //nolint:paralleltest // it counts what is allocated
	_, w := newWorld(t, options.New())
	put(t, w, shop)
	for _, more := range []string{"", ", parameters: {size: 1}"} {
		for i := range 50 {
			put(t, w, strings.Replace(strings.Replace(instanceA, "name: a", fmt.Sprintf("name: a%d", i), 1), "}}", more+"}}", 1))
		}
		require.NoError(t, w.Answer(t.Context()))
		assert.Less(t, testing.AllocsPerRun(5, func() { require.NoError(t, w.Answer(t.Context())) }), 100.0, more)
	}
}

// What waits for a slot is looked at once each time, though it was looked at before.
func TestAnswersLookOnceAtWhatWaits(t *testing.T) { //nolint:paralleltest // it counts what is allocated
	texts := []string{shop}
	for i := range 50 {
		texts = append(texts, strings.Replace(instanceA, "name: a", fmt.Sprintf("name: a%d", i), 1))
	}
	state := stored(t, options.New(), append(texts, noSmall)...)
	for i := range 50 {
		waitsForASlot(t, state, kindInstance, fmt.Sprintf("a%d", i))
	}
	w, err := world.New(restored(t, state), state.Options)
	require.NoError(t, err)
	require.NoError(t, w.Answer(t.Context()))
	assert.Less(t, testing.AllocsPerRun(5, func() { require.NoError(t, w.Answer(t.Context())) }), 10_000.0)
}
