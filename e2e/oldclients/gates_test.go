package oldclients_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/e2e/env"
	"github.com/defaultplan/defaultplan/e2e/stack"
	"github.com/defaultplan/defaultplan/e2e/stack/suite"
)

// TestOldManifestsAreAdmittedAsTheyAlwaysWere plays what the retired catalog's
// webhooks did, with all feature gates off and with all on: who does not use what
// is new must not notice it.
func TestOldManifestsAreAdmittedAsTheyAlwaysWere(t *testing.T) {
	t.Parallel()
	closed := suite.New(t, stack.Options{Webhooks: 1, WebhookArgs: []string{"--feature-gates=AllBeta=false"}, Releaser: true})
	for name, s := range map[string]*stack.Stack{"AllGatesOff": closed, "AllGatesOn": suite.Shared(t)} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, f := range families() {
				t.Run(f.String(), func(t *testing.T) {
					t.Parallel()
					f.namedPlan(env.On(t, s))
					f.onlyPlan(env.On(t, s))
					f.refusals(env.On(t, s))
				})
			}
			t.Run("NothingNamed", func(t *testing.T) {
				t.Parallel()
				e := env.On(t, s)
				env.RequireInvalid(t, e.Client().Create(t.Context(), e.Instance("mydb", env.WithParameters(`{"a":1}`))), "spec.clusterServiceClassExternalName")
			})
			t.Run("Kinds", func(t *testing.T) {
				t.Parallel()
				storesWhatOldClientsSend(env.On(t, s))
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
func (f family) asks(e *env.Env, className, planName string) env.InstanceEdit {
	e.Helper()
	spec := map[string]string{f.field("Class"): f.valueOf(className)}
	if planName != "" {
		spec[f.field("Plan")] = f.valueOf(planName)
	}
	text, err := json.Marshal(spec)
	require.NoError(e, err)
	return func(i *api.ServiceInstance) { require.NoError(e, json.Unmarshal(text, &i.Spec)) }
}

// valueOf is what the family calls the class or plan with a Kubernetes name.
func (f family) valueOf(name string) string {
	return map[string]string{"ExternalName": "ext-" + name, "ExternalID": "id-" + name, "Name": name}[f.by]
}

func (f family) class(e *env.Env) env.Class {
	c := env.Class{Name: e.Name("c"), ExternalName: "ext-" + e.Name("c"), ExternalID: "id-" + e.Name("c")}
	if f.local {
		c.Namespace = e.Namespace
	}
	return c
}

func (f family) plan(e *env.Env, base string) env.Plan {
	return env.Plan{Name: e.Name(base), ExternalName: "ext-" + e.Name(base), ExternalID: "id-" + e.Name(base)}
}

// namedPlan: class and plan are named, and there are others.
func (f family) namedPlan(e *env.Env) {
	e.Helper()
	e.AddPlans(f.class(e), f.plan(e, "p"), f.plan(e, "other"))
	text := `{"a":{"b":null},"n":9007199254740993}`
	got := e.CreateInstance("mydb", f.asks(e, e.Name("c"), e.Name("p")), env.WithParameters(text))
	f.isWhole(e, got)
	assert.JSONEq(e, text, env.ParametersOf(got), "nothing is merged")
	assert.Empty(e, e.Warnings.Take(), "nothing is new here")
}

// onlyPlan: only the class is named. The plan's name is filled in, in the same
// family, as the retired catalog did.
func (f family) onlyPlan(e *env.Env) {
	e.Helper()
	e.AddPlans(f.class(e), f.plan(e, "p"))
	f.isWhole(e, e.CreateInstance("mydb", f.asks(e, e.Name("c"), "")))
}

// isWhole asserts what admission adds to an instance of plan name("p").
func (f family) isWhole(e *env.Env, got *api.ServiceInstance) {
	e.Helper()
	want := e.Instance("mydb", f.asks(e, e.Name("c"), e.Name("p"))).Spec.PlanReference
	assert.Equal(e, want, got.Spec.PlanReference, "the plan's name is of the class's family")
	refs := api.DecidedReference{
		ClusterServiceClassRef: &api.ClusterObjectReference{Name: e.Name("c")},
		ClusterServicePlanRef:  &api.ClusterObjectReference{Name: e.Name("p")},
	}
	labels := map[string]string{
		"servicecatalog.k8s.io/spec.clusterServiceClassRef.name": api.HashLabelValue(e.Name("c")),
		"servicecatalog.k8s.io/spec.clusterServicePlanRef.name":  api.HashLabelValue(e.Name("p")),
	}
	if f.local {
		refs = api.DecidedReference{
			ServiceClassRef: &api.LocalObjectReference{Name: e.Name("c")},
			ServicePlanRef:  &api.LocalObjectReference{Name: e.Name("p")},
		}
		labels = map[string]string{
			"servicecatalog.k8s.io/spec.serviceClassRef.name": api.HashLabelValue(e.Name("c")),
			"servicecatalog.k8s.io/spec.servicePlanRef.name":  api.HashLabelValue(e.Name("p")),
		}
	}
	assert.Equal(e, refs, got.Spec.DecidedReference)
	assert.Equal(e, labels, got.Labels)
	assert.Equal(e, []string{"kubernetes-incubator/service-catalog"}, got.Finalizers)
	assert.Len(e, got.Spec.ExternalID, len("00000000-0000-0000-0000-000000000000"))
	assert.Equal(e, "admin", got.Spec.UserInfo.Username)
}

// refusals: what the retired catalog refused for a class without a plan.
func (f family) refusals(e *env.Env) {
	e.Helper()
	err := e.Client().Create(e.Context(), e.Instance("early", f.asks(e, e.Name("c"), "")))
	env.RequireInvalid(e.T, err, fmt.Sprintf("spec.%s: %q", f.field("Class"), f.valueOf(e.Name("c"))))

	undecided := e.CreateInstance("named", f.asks(e, e.Name("c"), e.Name("p")))
	assert.Empty(e, env.PlanOf(undecided), "with a plan it is admitted, and waits")
	assert.Len(e, e.Warnings.Take(), 1)

	e.AddPlans(f.class(e), f.plan(e, "p"), f.plan(e, "other"))
	assert.Equal(e, e.Name("p"), env.PlanOf(e.InstanceDecided("named")))
	err = e.Client().Create(e.Context(), e.Instance("two", f.asks(e, e.Name("c"), "")))
	env.RequireInvalid(e.T, err, "ext-"+e.Name("p"))
	env.RequireInvalid(e.T, err, "ext-"+e.Name("other"))
}

// whatAGateOpens holds what is new against the closed stack, where it is not
// seen, and against the shared one, where it is.
func whatAGateOpens(t *testing.T, closed *stack.Stack) {
	for name, tc := range map[string]struct {
		reason string
		asks   func(e *env.Env) env.InstanceEdit
		// want is the base name of the plan with all gates off and on; "" is a
		// refusal. parameters are those that are stored.
		off, on                     string
		parametersOff, parametersOn string
	}{
		"Type":           {"no plan by type", func(e *env.Env) env.InstanceEdit { return env.OfType(e.Name("db")) }, "", "standard", "", `{"d":1}`},
		"ClassDefault":   {"no default within a class", func(e *env.Env) env.InstanceEdit { return env.OfPlan(e.Name("two"), "") }, "", "standard", "", `{"d":1}`},
		"ClassSuggested": {"no suggestion within a class", func(e *env.Env) env.InstanceEdit { return env.OfPlan(e.Name("three"), "") }, "", "tip", "", ""},
		"Selector": {"no plan by labels", func(e *env.Env) env.InstanceEdit {
			return env.WithSelector(map[string]string{"only": e.Name("standard")})
		}, "", "standard", "", `{"d":1}`},
		"Defaults": {
			"nothing is merged", func(e *env.Env) env.InstanceEdit { return env.OfPlan(e.Name("two"), e.Name("standard")) },
			"standard", "standard", "", `{"d":1}`,
		},
		"TypeBesideAPlan": {
			"it describes, and agrees", func(e *env.Env) env.InstanceEdit {
				return func(i *api.ServiceInstance) {
					env.OfPlan(e.Name("two"), e.Name("other"))(i)
					env.OfType(e.Name("db"))(i)
				}
			}, "other", "other", "", "",
		},
		"Schema": {
			"parameters are the broker's to judge", func(e *env.Env) env.InstanceEdit {
				return func(i *api.ServiceInstance) {
					env.OfPlan(e.Name("two"), e.Name("standard"))(i)
					env.WithParameters(`{"d":"text"}`)(i)
				}
			}, "standard", "", `{"d":"text"}`, "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, side := range []struct {
				stack            *stack.Stack
				plan, parameters string
			}{{closed, tc.off, tc.parametersOff}, {suite.Shared(t), tc.on, tc.parametersOn}} {
				e := env.On(t, side.stack)
				addGated(e)
				instance := e.Instance("mydb", tc.asks(e))
				err := e.Client().Create(t.Context(), instance)
				if side.plan == "" {
					env.RequireInvalid(t, err, "")
					continue
				}
				require.NoError(t, err, tc.reason)
				assert.Equal(t, e.Name(side.plan), env.PlanOf(instance), tc.reason)
				assert.Equal(t, side.parameters, env.ParametersOf(instance), tc.reason)
			}
		})
	}
}

// addGated adds a catalog that uses all that is new.
func addGated(e *env.Env) {
	e.Helper()
	e.AddPlans(env.Class{Name: e.Name("two"), ServiceType: e.Name("db")},
		env.Plan{
			Name: e.Name("standard"), Default: true, Labels: map[string]string{"only": e.Name("standard")},
			Defaults: `{"d":1}`, Schema: `{"properties":{"d":{"type":"integer"}}}`,
		},
		env.Plan{Name: e.Name("other")})
	e.AddPlans(env.Class{Name: e.Name("three")}, env.Plan{Name: e.Name("tip"), Suggested: true}, env.Plan{Name: e.Name("no-tip")})
}
