package simulation

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/defaultplan/defaultplan/cmd/svcat/internal/simulation/world"
	"github.com/defaultplan/defaultplan/webhook/offline"
	"github.com/defaultplan/defaultplan/webhook/options"
)

// secret is the value of every parameter.
const secret = "s3cret-value"

// A dice makes random catalogs, objects and changes.
type dice struct{ *rand.Rand }

func (d dice) of(words ...string) string { return words[d.IntN(len(words))] }

// maybe is the text in one of n cases.
func (d dice) maybe(n int, text string) string {
	if d.IntN(n) == 0 {
		return text
	}
	return ""
}

func (d dice) plan(name string) string {
	more := []string{d.maybe(2, monthly(d.of("5", "10", "20.25"))), d.maybe(4, required), d.maybe(3, suggested)}
	var said []string
	for _, one := range more {
		if one != "" {
			said = append(said, one)
		}
	}
	return listed(name, said...)
}

func (d dice) catalog() string {
	var all []string
	for _, service := range []string{"db", "mq"} {
		if d.IntN(8) == 0 {
			continue
		}
		var plans []string
		for _, plan := range []string{"small", "large", "huge"} {
			if d.IntN(4) > 0 {
				plans = append(plans, d.plan(service+"-"+plan))
			}
		}
		if len(plans) > 0 {
			all = append(all, fmt.Sprintf(`{"id":%[1]q,"name":%[1]q,"description":"d","bindable":true,"tags":["ServiceType=%[2]s"],"plans":[%[3]s]}`, service, d.of("one", "two"), strings.Join(plans, ",")))
		}
	}
	return `{"services":[` + strings.Join(all, ",") + `]}`
}

func (d dice) object() string {
	name, namespace := d.of("a", "b", "c"), d.of("dev", "prod")
	parameters := d.maybe(2, `, parameters: {size: `+secret+`}`)
	switch d.IntN(8) {
	case 0:
		return fmt.Sprintf(`{kind: ServiceBinding, metadata: {name: %s, namespace: %s}, spec: {instanceRef: {name: %s}%s}}`, name, namespace, d.of("a", "b", "c"), parameters)
	case 1:
		return fmt.Sprintf(`{kind: ServiceInstance, metadata: {name: %s, namespace: %s}, spec: {clusterServiceClassExternalName: db, clusterServicePlanExternalName: %s%s}}`, name, namespace, d.of("db-small", "db-large"), parameters)
	case 2:
		return d.policy()
	case 3:
		return fmt.Sprintf(`{kind: BindingPolicy, metadata: {name: %s}, spec: {action: Deny, message: not here, namespaces: {names: [%s]}, subjects: [{className: %s}]}}`, name, namespace, d.of("db", "mq"))
	}
	return fmt.Sprintf(`{kind: ServiceInstance, metadata: {name: %s, namespace: %s}, spec: {serviceType: %s%s}}`, name, namespace, d.of("one", "two"), parameters)
}

func (d dice) policy() string {
	what := d.of("action: Deny", "action: Allow, maxInstances: 1", "action: Allow, maxBindings: 0", "action: Allow, maxInstances: 2")
	subject := d.of("{className: db}", "{className: mq}", `{costs: {currency: usd, unit: MONTHLY, above: "8"}}`)
	return fmt.Sprintf(`{kind: ProvisioningPolicy, metadata: {name: %s}, spec: {%s%s, subjects: [%s]}}`,
		d.of("p", "q"), what, d.maybe(2, ", namespaces: {selector: {matchLabels: {stage: dev}}}"), subject)
}

func (d dice) change(t *testing.T) Change {
	t.Helper()
	switch d.IntN(6) {
	case 0:
		return catalogChange(d.catalog())
	case 1:
		class := d.of("db", "mq")
		return Change{Default: &Default{Class: class, Plan: class + "-" + d.of("small", "large")}}
	case 2:
		kind := d.of("ClusterServicePlan", "ServiceInstance", "ProvisioningPolicy", "ServiceBinding", "ClusterServiceType")
		at := &Object{Kind: kind, Name: d.of("a", "b", "db-small", "p", "one")}
		if kind == "ServiceInstance" || kind == "ServiceBinding" {
			at.Namespace, at.Name = d.of("dev", "prod"), d.of("a", "b", "c")
		}
		return Change{Delete: at}
	case 3:
		return Change{Apply: documents(t, fmt.Sprintf(`{apiVersion: v1, kind: Namespace, metadata: {name: %s, labels: {stage: %s}}}`, d.of("dev", "prod"), d.of("dev", "prod")))[0]}
	}
	return Change{Apply: documents(t, d.object())[0]}
}

// state is a cluster after some time. What admission refuses meanwhile is left out.
func (d dice) state(t *testing.T) State {
	t.Helper()
	of := options.New()
	of.Unresolved = d.of(options.UnresolvedReject, options.UnresolvedWait, options.UnresolvedWait)
	cluster, w := newWorld(t, of)
	put(t, w, spaces)
	for _, more := range []string{"test", "test-2", "dev-2", "e"} { // some names are within others, and within words
		put(t, w, fmt.Sprintf(`{apiVersion: v1, kind: Namespace, metadata: {name: %s, labels: {stage: %s}}}`, more, d.of("dev", "prod")))
	}
	require.NoError(t, w.Relist(t.Context(), "", "shop", []byte(d.catalog())))
	for range 12 {
		change := d.change(t)
		if err := perform(t.Context(), w, &change); err != nil && world.Denied(err) == nil {
			require.Regexp(t, "is not in|there is none|has no service type", err.Error())
		}
	}
	return State{Objects: cluster.Objects(), Options: of}
}

// possible are those of the changes that can be simulated, one after the other.
func possible(t *testing.T, state State, all []Change) (changes []Change) {
	t.Helper()
	for _, change := range all {
		_, err := Run(t.Context(), state, append(slices.Clip(changes), change))
		if err == nil {
			changes = append(changes, change)
			continue
		}
		require.NotContains(t, err.Error(), "what a broker answers", "a change that can be made can be answered")
	}
	return changes
}

// random is how many worlds these tests make.
func random() uint64 {
	if testing.Short() {
		return 4
	}
	return 16
}

// What is judged because something may be different is all that is different, no change
// changes nothing, and no parameter is told.
func TestRandomly(t *testing.T) {
	t.Parallel()
	for seed := range random() {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			d := dice{rand.New(rand.NewPCG(seed, 7))}
			state := d.state(t)
			nothing := simulate(t, state)
			assert.False(t, nothing.Changes(), "%+v", nothing)
			changes := possible(t, state, []Change{d.change(t), d.change(t), d.change(t)})
			quick, err := run(t.Context(), state, changes, false)
			require.NoError(t, err)
			every, err := run(t.Context(), state, changes, true)
			require.NoError(t, err)
			assert.Equal(t, every, quick)
			raw, err := json.Marshal(quick)
			require.NoError(t, err)
			assert.NotContains(t, string(raw), secret)
		})
	}
}

// Changes in one world end as in worlds of which each begins with what the one before stored.
func TestStepByStep(t *testing.T) {
	t.Parallel()
	for seed := range random() {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			d := dice{rand.New(rand.NewPCG(seed, 11))}
			state := d.state(t)
			changes := possible(t, state, []Change{d.change(t), d.change(t), d.change(t)})
			whole := restored(t, state)
			together, err := world.New(whole, state.Options)
			require.NoError(t, err)
			for i := range changes {
				act(t, together, &changes[i])
			}
			step := state
			for i := range changes {
				cluster := restored(t, step)
				one, err := world.New(cluster, state.Options)
				require.NoError(t, err)
				act(t, one, &changes[i])
				step.Objects = cluster.Objects()
			}
			assert.JSONEq(t, timeless(t, whole.Objects()), timeless(t, step.Objects))
		})
	}
}

func restored(t *testing.T, state State) *offline.Cluster {
	t.Helper()
	cluster, err := clusterOf(t.Context(), &state, state.Options)
	require.NoError(t, err)
	return cluster
}

func act(t *testing.T, w *world.World, change *Change) {
	t.Helper()
	if err := perform(t.Context(), w, change); world.Denied(err) == nil {
		require.NoError(t, err)
	}
}

// timeless are objects as JSON, without what tells when and how often they were written: the
// keeper tries what admission refused it again.
func timeless(t *testing.T, objects []*unstructured.Unstructured) string {
	t.Helper()
	for _, object := range objects {
		object.SetResourceVersion("")
		object.SetGeneration(0)
		fields := object.GetManagedFields()
		for i := range fields {
			fields[i].Time = nil
		}
		slices.SortFunc(fields, func(a, b metav1.ManagedFieldsEntry) int {
			return cmp.Or(strings.Compare(a.Manager, b.Manager), strings.Compare(string(a.Operation), string(b.Operation)), strings.Compare(a.Subresource, b.Subresource))
		})
		object.SetManagedFields(fields)
		unstructured.RemoveNestedField(object.Object, "metadata", "creationTimestamp")
		unstructured.RemoveNestedField(object.Object, "metadata", "deletionTimestamp")
		conditions, _, _ := unstructured.NestedSlice(object.Object, "status", "conditions")
		for i := range conditions {
			if condition, is := conditions[i].(map[string]any); is {
				delete(condition, "lastTransitionTime")
			}
		}
		if conditions != nil {
			_ = unstructured.SetNestedSlice(object.Object, conditions, "status", "conditions")
		}
	}
	raw, err := json.Marshal(objects)
	require.NoError(t, err)
	return string(raw)
}
