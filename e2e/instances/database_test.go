package instances_test

import (
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/client"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/e2e/env"
)

// A database is the instance "db", by type, whose user wrote some parameters, a
// null over a default of the plan and one over a default of the class, and got
// the rest from the defaults. Its scenarios write it in some way as alice or
// bob.
type database struct {
	*env.Env
	// kind is its service type; class, plan and other are Kubernetes names: of the
	// plan that was the default at first, and of the one that is so later.
	kind, class, plan, other string
	// created is what it held when it was created.
	created env.Holding
}

// What the user of a database writes, and what is stored of it.
const (
	written = `"location":"westus","size":9007199254740993,"firewall":{"name":"office","start":null},"tier":null`
	stored  = `{"firewall":{"end":"255.255.255.255","name":"office","start":null},"location":"westus",` +
		`"size":9007199254740993,"ssl":false,"tags":["a","b"],"tier":null}`
)

// newDatabase makes the catalog; the instance is the scenario's to create.
func newDatabase(e *env.Env) *database {
	e.Helper()
	e.GrantInstances()
	d := &database{Env: e, kind: e.Name("mysql"), class: e.Name("azure"), plan: e.Name("basic"), other: e.Name("premium")}
	e.AddPlans(
		env.Class{Name: d.class, ServiceType: d.kind, Defaults: `{"tier":"basic","tags":["a","b"]}`},
		env.Plan{Name: d.plan, Default: true, Defaults: `{"firewall":{"start":"0.0.0.0","end":"255.255.255.255"},"ssl":false}`},
		env.Plan{Name: d.other},
	)
	return d
}

// manifest is the database as its user keeps it: parameters are the members of
// an object, more are further members of spec.
func (d *database) manifest(parameters string, more ...string) string {
	return d.manifestOf(append([]string{`"parameters":{` + parameters + `}`}, more...)...)
}

func (d *database) manifestOf(members ...string) string {
	spec := fmt.Sprintf(`"serviceType":%q`, d.kind)
	for _, member := range members {
		spec += "," + member
	}
	return `{"apiVersion":"servicecatalog.k8s.io/v1beta1","kind":"ServiceInstance","metadata":{"name":"db"},"spec":{` + spec + `}}`
}

// fresh is what the database holds once it is created by alice.
func (d *database) fresh() env.Holding {
	id := d.created.ExternalID
	return env.Holding{
		Class: "/" + d.class, Plan: "/" + d.plan, Type: d.kind, ExternalID: id, Minted: id, User: env.Alice,
		Applied: api.AppliedDefaults{
			Rule: "cluster-default", Class: d.class, Plan: d.plan,
			From:    map[string]string{"/firewall/end": "plan", "/ssl": "plan", "/tags": "class"},
			Removed: []string{"/firewall/start", "/tier"},
		},
		Parameters: stored,
		Hashed: map[string]string{
			api.LabelClusterServiceClassRefName: api.HashLabelValue(d.class),
			api.LabelClusterServicePlanRefName:  api.HashLabelValue(d.plan),
		},
		Finalizers: []string{api.FinalizerServiceCatalog}, Generation: 1,
	}
}

// turnCatalog changes the defaults of class and plan, and makes the other plan
// the default, and returns when both are what a new instance gets.
func (d *database) turnCatalog() {
	d.Helper()
	d.PatchPlan(d.plan, `{"spec":{"defaultProvisionParameters":{"ssl":true,"late":1}}}`)
	d.SwitchTo("", d.kind, d.other)
	d.Patch(env.Class{Name: d.class}.Object(), `{"spec":{"defaultProvisionParameters":{"tier":"gold","late":2}}}`)
	d.Eventually(func() (bool, error) {
		probe := d.Instance("probe", env.OfType(d.kind))
		err := d.Client().Create(d.Context(), probe, client.DryRunAll)
		return err == nil && env.PlanOf(probe) == d.other && env.ParametersOf(probe) == `{"late":2,"tags":["a","b"],"tier":"gold"}`, err
	})
}
