package e2e_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	eventsv1 "k8s.io/api/events/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/e2e/stack"
)

// TestTheInstanceComesFirst: with --unresolved=wait an instance may come before
// everything it needs. The user writes once; the rest is the keeper's.
//
//nolint:tparallel // its last subtests end processes that the others need.
func TestTheInstanceComesFirst(t *testing.T) {
	t.Parallel()
	waiting := startStack(t, func(o *stack.Options) {
		o.Webhooks, o.WebhookArgs = 2, []string{"--unresolved=wait"}
	})
	t.Run("Waits", func(t *testing.T) {
		for name, tc := range waiters() {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				tc.play(newWorldOn(t, waiting))
			})
		}
		t.Run("ATouchChangesNothing", func(t *testing.T) {
			t.Parallel()
			aTouchChangesNothing(newWorldOn(t, waiting))
		})
		t.Run("OnlyTheNamespaceOfAPlanIsWoken", func(t *testing.T) {
			t.Parallel()
			onlyTheNamespaceIsWoken(newWorldOn(t, waiting))
		})
		t.Run("AmbiguityIsRefusedAllTheSame", func(t *testing.T) {
			t.Parallel()
			w := newWorldOn(t, waiting)
			w.addPlans(class{name: w.name("c"), serviceType: w.name("db")}, plan{name: w.name("a"), isSuggested: true}, plan{name: w.name("b"), isSuggested: true})
			requireInvalid(t, w.client.Create(t.Context(), w.instance("mydb", ofType(w.name("db")))), w.name("a"))
		})
	})
	// These end the processes that the others need.
	t.Run("AnotherProcessKeepsOn", func(t *testing.T) { anotherProcessKeepsOn(newWorldOn(t, waiting)) })
	t.Run("WhatCameWhileNoKeeperRan", func(t *testing.T) { whatCameWhileNoKeeperRan(newWorldOn(t, waiting)) })
}

// A waiter is an instance that is created first, and what it needs.
type waiter struct {
	reason string
	// local puts the catalog into the instance's namespace.
	local bool
	asks  func(w *world) edit
	// needs are created one after the other; only the last makes it whole.
	needs func(w *world, c class, p plan) []client.Object
}

// waiters ask in every way for the plan that name("p") names, of class name("c")
// and type name("db").
func waiters() map[string]waiter {
	classThenPlan := func(_ *world, c class, p plan) []client.Object { return []client.Object{c.object(), p.object()} }
	planThenClass := func(_ *world, c class, p plan) []client.Object { return []client.Object{p.object(), c.object()} }
	thenRecord := func(w *world, c class, p plan) []client.Object {
		p.isDefault = false
		return []client.Object{c.object(), p.object(), record(p.namespace, w.name("db"), p.name)}
	}
	byType := func(w *world) edit { return ofType(w.name("db")) }
	bySelector := func(w *world) edit { return withSelector(map[string]string{"tier": w.name("gold")}) }
	byClass := func(w *world) edit { return ofPlan(w.name("c"), "") }
	byName := func(w *world) edit { return ofPlan(w.name("c"), w.name("p")) }
	byLocalName := func(w *world) edit { return ofLocalPlan(w.name("c"), w.name("p")) }
	byLocalClass := func(w *world) edit { return ofLocalPlan(w.name("c"), "") }
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
func (tc waiter) play(w *world) {
	w.Helper()
	w.grant()
	user := w.as(alice)
	created := user.createInstance("mydb", tc.asks(w), withParameters(`{"mine":1}`))
	require.Empty(w, planOf(created), tc.reason)
	require.Len(w, user.warnings.take(), 1, "its user is told that it waits")

	c := class{name: w.name("c"), defaults: `{"from":"class"}`}
	p := plan{name: w.name("p"), class: c.name, serviceType: w.name("db"), isDefault: true, defaults: `{"size":5}`, labels: map[string]string{"tier": w.name("gold")}}
	if tc.local {
		c.namespace, p.namespace = w.namespace, w.namespace
	}
	w.create(tc.needs(w, c, p)...)

	whole := w.becomesWhole("mydb")
	assert.Equal(w, p.name, planOf(whole), tc.reason)
	assert.JSONEq(w, `{"from":"class","mine":1,"size":5}`, parametersOf(whole), "defaults are merged when it is decided")
	assert.Equal(w, alice, whole.Spec.UserInfo.Username, "the keeper's touch makes it nobody else's")
	assert.Equal(w, created.Spec.ExternalID, whole.Spec.ExternalID, "minted once")
	assert.Equal(w, map[string]string{"/from": "class", "/size": "plan"}, w.appliedTo(whole).From)
}

// becomesWhole waits until the instance is decided.
func (w *world) becomesWhole(name string) *api.ServiceInstance {
	w.Helper()
	instance := w.instance(name)
	w.eventually(func() (bool, error) {
		err := w.client.Get(w.Context(), client.ObjectKeyFromObject(instance), instance)
		return instance.Spec.Decided(), err
	})
	return instance
}

// aTouchChangesNothing: an event tells that an instance was touched and remains
// undecided. Nothing that anybody wrote is changed by it. (The first write of
// any kind after its creation stores the default of status beside it, because the
// API server stores a new object without its status; the touches after that
// store nothing at all.)
func aTouchChangesNothing(w *world) {
	created := w.createInstance("mydb", ofType(w.name("db")))
	told := w.toldUndecided("mydb")
	assert.Equal(w, `waits for a default plan of type "`+w.name("db")+`": it is decided on as soon as there is one`, told.Note)
	assert.Equal(w, "Warning", told.Type)
	assert.Contains(w, w.kubectl("", "describe", "serviceinstance", "mydb"), "waits for a default plan of type")
	stored := w.stored("mydb")

	before := len(w.touches())
	w.addPlans(class{name: w.name("c"), serviceType: w.name("db")}, plan{name: w.name("no-default")})
	w.eventually(func() (bool, error) { return len(w.touches()) > before+1, nil })
	assert.Empty(w, cmp.Diff(stored, w.stored("mydb")))
	created.ResourceVersion = stored.ResourceVersion
	assert.Empty(w, cmp.Diff(created, stored))
}

// toldUndecided waits for the keeper's event about an instance.
func (w *world) toldUndecided(name string) eventsv1.Event {
	w.Helper()
	var told eventsv1.Event
	w.eventually(func() (bool, error) {
		events := &eventsv1.EventList{}
		if err := w.client.List(w.Context(), events, client.InNamespace(w.namespace)); err != nil {
			return false, err
		}
		for _, event := range events.Items {
			if event.Regarding.Name == name && event.Reason == "Undecided" {
				told = event
				return true, nil
			}
		}
		return false, nil
	})
	return told
}

// onlyTheNamespaceIsWoken: a namespaced plan cannot help who is elsewhere.
func onlyTheNamespaceIsWoken(w *world) {
	here, elsewhere := *w, *w
	elsewhere.namespace = w.addNamespace()
	serviceType := ofType(w.name("db"))
	here.createInstance("mydb", serviceType)
	elsewhere.createInstance("mydb", serviceType)
	here.toldUndecided("mydb")
	elsewhere.toldUndecided("mydb")
	before := len(elsewhere.touches())

	local := class{namespace: here.namespace, name: w.name("c"), serviceType: w.name("db")}
	here.addPlans(local, plan{name: w.name("p"), isDefault: true})
	here.becomesWhole("mydb")
	// The keeper works in turn: whoever was woken by the plan above is touched
	// before one that is woken now.
	here.createInstance("later", ofPlan("", ""), ofLocalPlan(w.name("later"), ""))
	here.addPlans(class{namespace: here.namespace, name: w.name("later")}, plan{name: w.name("p2")})
	here.becomesWhole("later")
	assert.Len(w, elsewhere.touches(), before, "not touched")
	assert.Positive(w, before)
}

// touches are the admission requests for updates in the world's namespace that
// any webhook process was sent.
func (w *world) touches() []decision {
	w.Helper()
	var found []decision
	for i := range 2 {
		for _, line := range w.decisions(i) {
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
			w := newWorld(t)
			asked := tc.asks(w)
			if probe := w.instance("mydb", asked); probe.Spec.ClusterServicePlanExternalName == "" && probe.Spec.ServicePlanExternalName == "" {
				requireInvalid(t, w.client.Create(t.Context(), probe), "")
				return
			}
			tc.play(w)
		})
	}
}
