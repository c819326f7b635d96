package bindings_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/e2e/env"
)

// TestTheBindingComesFirst: the user writes once, in whatever order; the rest is
// the keeper's.
func TestTheBindingComesFirst(t *testing.T) {
	t.Parallel()
	named := func(e *env.Env) client.Object { return e.Instance("mydb", env.OfPlan(e.Name("c"), e.Name("p"))) }
	for name, tc := range map[string]struct {
		reason string
		// before are there when the binding comes; only the last of after makes it
		// whole.
		before, after func(e *env.Env) []client.Object
	}{
		"InstanceLast": {
			reason: "it is decided when it comes",
			before: func(e *env.Env) []client.Object { return e.Bindable() },
			after: func(e *env.Env) []client.Object {
				return []client.Object{e.Instance("mydb", env.OfType(e.Name("db")))}
			},
		},
		"PlanLast": {
			reason: "the keeper decides the instance first",
			after:  func(e *env.Env) []client.Object { return append([]client.Object{named(e)}, e.Bindable()...) },
		},
		"InstanceWaits": {
			reason: "it is there, but was not decided",
			before: func(e *env.Env) []client.Object { return []client.Object{named(e)} },
			after:  func(e *env.Env) []client.Object { return e.Bindable() },
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := env.New(t)
			if tc.before != nil {
				e.Create(tc.before(e)...)
			}
			created := e.WaitingBinding("creds", "mydb")
			e.Create(tc.after(e)...)

			bound := e.BindingDecided("creds")
			assert.Equal(t, e.Name("p"), bound.Spec.ClusterServicePlanRef.Name, tc.reason)
			assert.Equal(t, e.Name("c"), bound.Spec.ClusterServiceClassRef.Name)
			assert.Equal(t, e.Stored("mydb").Spec.ServiceType, bound.Spec.ServiceType)
			assert.JSONEq(t, `{"user":"admin","tls":true}`, string(bound.Spec.Parameters.Raw), "defaults are merged when it is decided")
			assert.Len(t, bound.Spec.SecretTransforms, 1)
			assert.Equal(t, created.Spec.ExternalID, bound.Spec.ExternalID, "minted once")
			assert.Equal(t, created.Spec.UserInfo, bound.Spec.UserInfo, "the keeper's touch does not change its user")
		})
	}
}

// TestARestoredBindingComesFirst: a backup's binding waits for its instance, with the
// references emptied that it came with; what its user left empty is filled in.
func TestARestoredBindingComesFirst(t *testing.T) {
	t.Parallel()
	e := env.New(t)
	e.Create(e.Bindable()...)
	restored := e.Binding("restored", "mydb")
	restored.Spec.ExternalID = e.Name("id-restored")
	restored.Spec.ClusterServiceClassRef = &api.ClusterObjectReference{Name: e.Name("c")}
	restored.Spec.ClusterServicePlanRef = &api.ClusterObjectReference{Name: e.Name("p")}
	e.Create(restored)
	require.Equal(t, &api.ClusterObjectReference{}, restored.Spec.ClusterServicePlanRef, "it waits")
	e.Apply(e.ManifestOf("ServiceBinding", "empty", `{instanceRef: {name: mydb}, serviceType: "", secretName: "", externalID: ""}`))

	e.CreateInstance("mydb", env.OfType(e.Name("db")))
	for _, name := range []string{"restored", "empty"} {
		decided := e.BindingDecided(name)
		assert.Equal(t, e.Name("p"), decided.Spec.ClusterServicePlanRef.Name, name)
		assert.Equal(t, e.Name("c"), decided.Spec.ClusterServiceClassRef.Name, name)
	}
	assert.Equal(t, restored.Spec.ExternalID, e.StoredBinding("restored").Spec.ExternalID)
	assert.Equal(t, e.Name("db"), e.StoredBinding("empty").Spec.ServiceType)
}

// TestABindingIsToldWhatItWaitsFor, and a touch that does not help changes
// nothing.
func TestABindingIsToldWhatItWaitsFor(t *testing.T) {
	t.Parallel()
	e := env.New(t)
	e.WaitingBinding("creds", "mydb")
	e.ToldOf("creds", `waits for instance "mydb": it is decided on as soon as there is one`)
	stored := e.StoredBinding("creds")

	e.Create(e.Instance("mydb", env.OfPlan(e.Name("c"), e.Name("p"))))
	e.WaitingBinding("later", "mydb")
	e.ToldOf("later", `waits for instance "mydb", which waits for plan "`+e.Name("p")+`" of class "`+e.Name("c")+`": it is decided on as soon as there is one`)
	assert.Empty(t, cmp.Diff(stored, e.StoredBinding("creds")))
}
