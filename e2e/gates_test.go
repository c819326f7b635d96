package e2e_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/e2e/stack"
)

// TestOldManifestsAreAdmittedAsTheyAlwaysWere plays what the retired catalog's
// webhooks did, with all feature gates off and with all on: who does not use what
// is new must not notice it.
func TestOldManifestsAreAdmittedAsTheyAlwaysWere(t *testing.T) {
	t.Parallel()
	closed := startStack(t, func(o *stack.Options) { o.WebhookArgs = []string{"--feature-gates=AllBeta=false"} })
	for name, s := range map[string]*stack.Stack{"AllGatesOff": closed, "AllGatesOn": shared} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, f := range families() {
				t.Run(f.String(), func(t *testing.T) {
					t.Parallel()
					f.namedPlan(newWorldOn(t, s))
					f.onlyPlan(newWorldOn(t, s))
					f.refusals(newWorldOn(t, s))
				})
			}
			t.Run("NothingNamed", func(t *testing.T) {
				t.Parallel()
				w := newWorldOn(t, s)
				requireInvalid(t, w.client.Create(t.Context(), w.instance("mydb", withParameters(`{"a":1}`))), "spec.clusterServiceClassExternalName")
			})
			t.Run("Kinds", func(t *testing.T) {
				t.Parallel()
				newWorldOn(t, s).storesWhatOldClientsSend()
			})
		})
	}
	t.Run("WhatAGateOpens", func(t *testing.T) { whatAGateOpens(t, closed) })
}

// A family is one of the six ways to name a class and a plan.
type family struct {
	local bool
	// by is ExternalName, ExternalID or Name.
	by string
}

func families() []family {
	var all []family
	for _, local := range []bool{false, true} {
		for _, by := range []string{"ExternalName", "ExternalID", "Name"} {
			all = append(all, family{local, by})
		}
	}
	return all
}

// String is the family's name for a class, as in clusterServiceClassName.
func (f family) String() string { return f.field("Class") }

func (f family) field(kind string) string {
	if f.local {
		return "service" + kind + f.by
	}
	return "clusterService" + kind + f.by
}

// asks names a class, and a plan if it is not empty, in the family's way.
func (f family) asks(w *world, className, planName string) edit {
	w.Helper()
	spec := map[string]string{f.field("Class"): f.valueOf(className)}
	if planName != "" {
		spec[f.field("Plan")] = f.valueOf(planName)
	}
	text, err := json.Marshal(spec)
	require.NoError(w, err)
	return func(i *api.ServiceInstance) { require.NoError(w, json.Unmarshal(text, &i.Spec)) }
}

// valueOf is what the family calls the class or plan with a Kubernetes name.
func (f family) valueOf(name string) string {
	return map[string]string{"ExternalName": "ext-" + name, "ExternalID": "id-" + name, "Name": name}[f.by]
}

func (f family) class(w *world) class {
	c := class{name: w.name("c"), externalName: "ext-" + w.name("c"), externalID: "id-" + w.name("c")}
	if f.local {
		c.namespace = w.namespace
	}
	return c
}

func (f family) plan(w *world, base string) plan {
	return plan{name: w.name(base), externalName: "ext-" + w.name(base), externalID: "id-" + w.name(base)}
}

// namedPlan: class and plan are named, and there are others.
func (f family) namedPlan(w *world) {
	w.Helper()
	w.addPlans(f.class(w), f.plan(w, "p"), f.plan(w, "other"))
	text := `{"a":{"b":null},"n":9007199254740993}`
	got := w.createInstance("mydb", f.asks(w, w.name("c"), w.name("p")), withParameters(text))
	f.isWhole(w, got)
	assert.JSONEq(w, text, parametersOf(got), "nothing is merged")
	assert.Empty(w, w.warnings.take(), "nothing is new here")
}

// onlyPlan: only the class is named. The plan's name is filled in, in the same
// family, as the retired catalog did.
func (f family) onlyPlan(w *world) {
	w.Helper()
	w.addPlans(f.class(w), f.plan(w, "p"))
	f.isWhole(w, w.createInstance("mydb", f.asks(w, w.name("c"), "")))
}

// isWhole asserts what admission adds to an instance of plan name("p").
func (f family) isWhole(w *world, got *api.ServiceInstance) {
	w.Helper()
	want := w.instance("mydb", f.asks(w, w.name("c"), w.name("p"))).Spec.PlanReference
	assert.Equal(w, want, got.Spec.PlanReference, "the plan's name is of the class's family")
	refs := api.DecidedReference{
		ClusterServiceClassRef: &api.ClusterObjectReference{Name: w.name("c")},
		ClusterServicePlanRef:  &api.ClusterObjectReference{Name: w.name("p")},
	}
	labels := map[string]string{
		"servicecatalog.k8s.io/spec.clusterServiceClassRef.name": api.HashLabelValue(w.name("c")),
		"servicecatalog.k8s.io/spec.clusterServicePlanRef.name":  api.HashLabelValue(w.name("p")),
	}
	if f.local {
		refs = api.DecidedReference{
			ServiceClassRef: &api.LocalObjectReference{Name: w.name("c")},
			ServicePlanRef:  &api.LocalObjectReference{Name: w.name("p")},
		}
		labels = map[string]string{
			"servicecatalog.k8s.io/spec.serviceClassRef.name": api.HashLabelValue(w.name("c")),
			"servicecatalog.k8s.io/spec.servicePlanRef.name":  api.HashLabelValue(w.name("p")),
		}
	}
	assert.Equal(w, refs, got.Spec.DecidedReference)
	assert.Equal(w, labels, got.Labels)
	assert.Equal(w, []string{"kubernetes-incubator/service-catalog"}, got.Finalizers)
	assert.Len(w, got.Spec.ExternalID, len("00000000-0000-0000-0000-000000000000"))
	assert.Equal(w, "admin", got.Spec.UserInfo.Username)
}

// refusals: what the retired catalog refused for a class without a plan.
func (f family) refusals(w *world) {
	w.Helper()
	err := w.client.Create(w.Context(), w.instance("early", f.asks(w, w.name("c"), "")))
	requireInvalid(w.T, err, fmt.Sprintf("spec.%s: %q", f.field("Class"), f.valueOf(w.name("c"))))

	undecided := w.createInstance("named", f.asks(w, w.name("c"), w.name("p")))
	assert.Empty(w, planOf(undecided), "with a plan it is admitted, and waits")
	assert.Len(w, w.warnings.take(), 1)

	w.addPlans(f.class(w), f.plan(w, "p"), f.plan(w, "other"))
	assert.Equal(w, w.name("p"), planOf(w.becomesWhole("named")))
	err = w.client.Create(w.Context(), w.instance("two", f.asks(w, w.name("c"), "")))
	requireInvalid(w.T, err, "ext-"+w.name("p"))
	requireInvalid(w.T, err, "ext-"+w.name("other"))
}

// whatAGateOpens holds what is new against the closed stack, where it is not
// seen, and against the shared one, where it is.
func whatAGateOpens(t *testing.T, closed *stack.Stack) {
	for name, tc := range map[string]struct {
		reason string
		asks   func(w *world) edit
		// want is the base name of the plan with all gates off and on; "" is a
		// refusal. parameters are those that are stored.
		off, on                     string
		parametersOff, parametersOn string
	}{
		"Type":           {"no plan by type", func(w *world) edit { return ofType(w.name("db")) }, "", "standard", "", `{"d":1}`},
		"ClassDefault":   {"no default within a class", func(w *world) edit { return ofPlan(w.name("two"), "") }, "", "standard", "", `{"d":1}`},
		"ClassSuggested": {"no suggestion within a class", func(w *world) edit { return ofPlan(w.name("three"), "") }, "", "tip", "", ""},
		"Selector":       {"no plan by labels", func(w *world) edit { return withSelector(map[string]string{"only": w.name("standard")}) }, "", "standard", "", `{"d":1}`},
		"Defaults": {
			"nothing is merged", func(w *world) edit { return ofPlan(w.name("two"), w.name("standard")) },
			"standard", "standard", "", `{"d":1}`,
		},
		"TypeBesideAPlan": {
			"it describes, and agrees", func(w *world) edit {
				return func(i *api.ServiceInstance) {
					ofPlan(w.name("two"), w.name("other"))(i)
					ofType(w.name("db"))(i)
				}
			}, "other", "other", "", "",
		},
		"Schema": {
			"parameters are the broker's to judge", func(w *world) edit {
				return func(i *api.ServiceInstance) {
					ofPlan(w.name("two"), w.name("standard"))(i)
					withParameters(`{"d":"text"}`)(i)
				}
			}, "standard", "", `{"d":"text"}`, "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, side := range []struct {
				stack            *stack.Stack
				plan, parameters string
			}{{closed, tc.off, tc.parametersOff}, {shared, tc.on, tc.parametersOn}} {
				w := newWorldOn(t, side.stack)
				w.addGated()
				instance := w.instance("mydb", tc.asks(w))
				err := w.client.Create(t.Context(), instance)
				if side.plan == "" {
					requireInvalid(t, err, "")
					continue
				}
				require.NoError(t, err, tc.reason)
				assert.Equal(t, w.name(side.plan), planOf(instance), tc.reason)
				assert.Equal(t, side.parameters, parametersOf(instance), tc.reason)
			}
		})
	}
}

// addGated adds a catalog that uses all that is new.
func (w *world) addGated() {
	w.Helper()
	w.addPlans(class{name: w.name("two"), serviceType: w.name("db")},
		plan{
			name: w.name("standard"), isDefault: true, labels: map[string]string{"only": w.name("standard")},
			defaults: `{"d":1}`, schema: `{"properties":{"d":{"type":"integer"}}}`,
		},
		plan{name: w.name("other")})
	w.addPlans(class{name: w.name("three")}, plan{name: w.name("tip"), isSuggested: true}, plan{name: w.name("no-tip")})
}
