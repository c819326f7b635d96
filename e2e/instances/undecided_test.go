package instances_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/e2e/env"
	"github.com/defaultplan/defaultplan/e2e/stack"
	"github.com/defaultplan/defaultplan/e2e/stack/suite"
)

// TestTheInstanceComesFirst: with --unresolved=wait an instance may come before
// everything it needs. The user writes once; the rest is the keeper's, under the shipped
// policies, which hold the keeper to it.
//
//nolint:tparallel // its last subtests end processes that the others need.
func TestTheInstanceComesFirst(t *testing.T) {
	t.Parallel()
	waiting := suite.New(t, stack.Options{Webhooks: 2, WebhookArgs: []string{"--unresolved=wait"}, Whole: true, Releaser: true})
	withoutUndecidedPolicy(env.On(t, waiting))
	t.Run("Waits", func(t *testing.T) {
		for name, tc := range waiters() {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				tc.play(env.On(t, waiting))
			})
		}
		t.Run("ClassOnlyClaim", func(t *testing.T) {
			t.Parallel()
			theClaimComesFirst(env.On(t, waiting))
		})
		t.Run("ATouchChangesNothing", func(t *testing.T) {
			t.Parallel()
			aTouchChangesNothing(env.On(t, waiting))
		})
		t.Run("OnlyTheNamespaceOfAPlanIsWoken", func(t *testing.T) {
			t.Parallel()
			onlyTheNamespaceIsWoken(env.On(t, waiting))
		})
		t.Run("AmbiguityIsRefusedAllTheSame", func(t *testing.T) {
			t.Parallel()
			e := env.On(t, waiting)
			e.AddPlans(env.Class{Name: e.Name("c"), ServiceType: e.Name("db")}, env.Plan{Name: e.Name("a"), Suggested: true}, env.Plan{Name: e.Name("b"), Suggested: true})
			e.Ambiguous(env.OfType(e.Name("db")), e.Name("a"), e.Name("b"))
		})
	})
	// These end the processes that the others need.
	t.Run("AnotherProcessKeepsOn", func(t *testing.T) { anotherProcessKeepsOn(env.On(t, waiting)) })
	t.Run("WhatCameWhileNoKeeperRan", func(t *testing.T) { whatCameWhileNoKeeperRan(env.On(t, waiting)) })
}

// withoutUndecidedPolicy takes away the policy that is left out where the webhook runs with --unresolved=wait.
func withoutUndecidedPolicy(e *env.Env) {
	const name = "undecided." + api.GroupName
	e.Delete(&admissionregistrationv1.ValidatingAdmissionPolicyBinding{ObjectMeta: metav1.ObjectMeta{Name: name}})
	e.Delete(&admissionregistrationv1.ValidatingAdmissionPolicy{ObjectMeta: metav1.ObjectMeta{Name: name}})
	// The API server learns of policies by a watch.
	e.Eventually(func() (bool, error) {
		err := e.Client().Create(e.Context(), e.Instance("trial", env.OfType(e.Name("db"))), client.DryRunAll)
		if apierrors.IsInvalid(err) {
			return false, nil
		}
		return err == nil, err
	})
}

// A waiter is an instance that is created first, and what it needs.
type waiter struct {
	reason string
	// local puts the catalog into the instance's namespace.
	local bool
	asks  func(e *env.Env) env.InstanceEdit
	// needs are created one after the other; only the last makes it whole.
	needs func(e *env.Env, c env.Class, p env.Plan) []client.Object
}

// waiters ask in every way for the plan that name("p") names, of class name("c")
// and type name("db").
func waiters() map[string]waiter {
	classThenPlan := func(_ *env.Env, c env.Class, p env.Plan) []client.Object {
		return []client.Object{c.Object(), p.Object()}
	}
	planThenClass := func(_ *env.Env, c env.Class, p env.Plan) []client.Object {
		return []client.Object{p.Object(), c.Object()}
	}
	thenRecord := func(e *env.Env, c env.Class, p env.Plan) []client.Object {
		p.Default = false
		return []client.Object{c.Object(), p.Object(), env.TypeWithDefault(p.Namespace, e.Name("db"), p.Name)}
	}
	byType := func(e *env.Env) env.InstanceEdit { return env.OfType(e.Name("db")) }
	bySelector := func(e *env.Env) env.InstanceEdit { return env.WithSelector(map[string]string{"tier": e.Name("gold")}) }
	byClass := func(e *env.Env) env.InstanceEdit { return env.OfPlan(e.Name("c"), "") }
	byName := func(e *env.Env) env.InstanceEdit { return env.OfPlan(e.Name("c"), e.Name("p")) }
	byLocalName := func(e *env.Env) env.InstanceEdit { return env.OfLocalPlan(e.Name("c"), e.Name("p")) }
	byLocalClass := func(e *env.Env) env.InstanceEdit { return env.OfLocalPlan(e.Name("c"), "") }
	return map[string]waiter{
		"Type":               {reason: "class, plan with its default", asks: byType, needs: classThenPlan},
		"TypePlanFirst":      {reason: "the class comes last", asks: byType, needs: planThenClass},
		"TypeRecorded":       {reason: "class, plan, and the record last", asks: byType, needs: thenRecord},
		"TypeLocal":          {reason: "in a namespace", local: true, asks: byType, needs: classThenPlan},
		"TypeLocalRecorded":  {reason: "in a namespace, by its record", local: true, asks: byType, needs: thenRecord},
		"Selector":           {reason: "a plan with the label", asks: bySelector, needs: classThenPlan},
		"SelectorClassLast":  {reason: "a plan is chosen with its class only", asks: bySelector, needs: planThenClass},
		"SelectorLocal":      {reason: "in a namespace", local: true, asks: bySelector, needs: classThenPlan},
		"Named":              {reason: "as it always was", asks: byName, needs: classThenPlan},
		"NamedClassLast":     {reason: "as it always was", asks: byName, needs: planThenClass},
		"NamedLocal":         {reason: "in a namespace", local: true, asks: byLocalName, needs: classThenPlan},
		"ClassOnly":          {reason: "its only plan", asks: byClass, needs: classThenPlan},
		"ClassOnlyLocal":     {reason: "in a namespace", local: true, asks: byLocalClass, needs: classThenPlan},
		"ClassOnlyPlanFirst": {reason: "the class comes last", asks: byClass, needs: planThenClass},
	}
}

// play creates the instance as alice, then what it needs as the administrator.
func (tc waiter) play(e *env.Env) {
	e.Helper()
	e.GrantInstances()
	user := e.As(env.Alice)
	created := user.CreateInstance("mydb", tc.asks(e), env.WithParameters(`{"mine":1}`))
	require.Empty(e, env.PlanOf(created), tc.reason)
	require.Len(e, user.Warnings.Take(), 1, "its user is told that it waits")

	c := env.Class{Name: e.Name("c"), Defaults: `{"from":"class"}`}
	p := env.Plan{Name: e.Name("p"), Class: c.Name, ServiceType: e.Name("db"), Default: true, Defaults: `{"size":5}`, Labels: map[string]string{"tier": e.Name("gold")}}
	if tc.local {
		c.Namespace, p.Namespace = e.Namespace, e.Namespace
	}
	e.Create(tc.needs(e, c, p)...)

	whole := e.InstanceDecided("mydb")
	assert.Equal(e, p.Name, env.PlanOf(whole), tc.reason)
	assert.JSONEq(e, `{"from":"class","mine":1,"size":5}`, env.ParametersOf(whole), "defaults are merged when it is decided")
	assert.Equal(e, env.Alice, whole.Spec.UserInfo.Username, "the keeper's touch does not change its user")
	assert.Equal(e, created.Spec.ExternalID, whole.Spec.ExternalID, "minted once")
	assert.Equal(e, map[string]string{"/from": "class", "/size": "plan"}, e.AppliedTo(whole).From)
}

// theClaimComesFirst: a binding that asks for an instance of its own names a class only.
func theClaimComesFirst(e *env.Env) {
	claim := e.Binding("creds", "")
	claim.Spec.InstanceRef, claim.Spec.ClusterServiceClassExternalName = nil, e.Name("c")
	claim.Spec.ProvisionParameters = env.RawJSON(`{"mine":1}`)
	e.Create(claim)
	require.False(e, claim.Spec.Decided(), "it waits")

	e.Create(env.Class{Name: e.Name("c"), Defaults: `{"from":"class"}`}.Object(), env.Plan{Name: e.Name("p"), Class: e.Name("c")}.Object())
	decided := e.BindingDecided("creds")
	assert.Equal(e, e.Name("p"), decided.Spec.ClusterServicePlanExternalName, "its plan is named as its class is")
	assert.JSONEq(e, `{"from":"class","mine":1}`, string(decided.Spec.ProvisionParameters.Raw))
}

// aTouchChangesNothing: an event tells that an instance was touched and remains
// undecided. Nothing that anybody wrote is changed by it. (The first write of
// any kind after its creation stores the default of status beside it, because the
// API server stores a new object without its status; the touches after that
// store nothing at all.)
func aTouchChangesNothing(e *env.Env) {
	created := e.CreateInstance("mydb", env.OfType(e.Name("db")))
	told := e.ToldUndecided("mydb")
	assert.Equal(e, `waits for a default plan of type "`+e.Name("db")+`": it is decided on as soon as there is one`, told.Note)
	assert.Equal(e, "Warning", told.Type)
	assert.Contains(e, e.Kubectl("", "describe", "serviceinstance", "mydb"), "waits for a default plan of type")
	stored := e.Stored("mydb")

	before := len(touches(e))
	e.AddPlans(env.Class{Name: e.Name("c"), ServiceType: e.Name("db")}, env.Plan{Name: e.Name("no-default")})
	e.Eventually(func() (bool, error) { return len(touches(e)) > before+1, nil })
	assert.Empty(e, cmp.Diff(stored, e.Stored("mydb")))
	created.ResourceVersion = stored.ResourceVersion
	assert.Empty(e, cmp.Diff(created, stored))
}

// onlyTheNamespaceIsWoken: a namespaced plan cannot help who is elsewhere.
func onlyTheNamespaceIsWoken(e *env.Env) {
	here, elsewhere := e, e.InNamespace(e.AddNamespace())
	serviceType := env.OfType(e.Name("db"))
	here.CreateInstance("mydb", serviceType)
	elsewhere.CreateInstance("mydb", serviceType)
	here.ToldUndecided("mydb")
	elsewhere.ToldUndecided("mydb")
	before := len(touches(elsewhere))

	local := env.Class{Namespace: here.Namespace, Name: e.Name("c"), ServiceType: e.Name("db")}
	here.AddPlans(local, env.Plan{Name: e.Name("p"), Default: true})
	here.InstanceDecided("mydb")
	// The keeper works in turn: an instance that the plan above woke is touched
	// before one that is woken now.
	here.CreateInstance("later", env.OfPlan("", ""), env.OfLocalPlan(e.Name("later"), ""))
	here.AddPlans(env.Class{Namespace: here.Namespace, Name: e.Name("later")}, env.Plan{Name: e.Name("p2")})
	here.InstanceDecided("later")
	assert.Len(e, touches(elsewhere), before, "not touched")
	assert.Positive(e, before)
}

// touches are the admission requests for updates in the namespace that
// any webhook process was sent.
func touches(e *env.Env) []env.Decision {
	e.Helper()
	var found []env.Decision
	for i := range 2 {
		for _, line := range e.Decisions(i) {
			if line.Operation == "UPDATE" && line.Phase == "mutate" {
				found = append(found, line)
			}
		}
	}
	return found
}

// TestANamedPlanThatIsAbsentIsWaitedFor: also where nothing else is waited for,
// an instance that names class and plan is admitted, as it always was.
func TestANamedPlanThatIsAbsentIsWaitedFor(t *testing.T) {
	t.Parallel()
	for name, tc := range waiters() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := env.New(t)
			asked := tc.asks(e)
			if probe := e.Instance("mydb", asked); probe.Spec.ClusterServicePlanExternalName == "" && probe.Spec.ServicePlanExternalName == "" {
				env.RequireInvalid(t, e.Client().Create(t.Context(), probe), "")
				return
			}
			tc.play(e)
		})
	}
}
