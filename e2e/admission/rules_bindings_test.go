package admission_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/e2e/env"
)

// TestRulesOfBindings that are new: instance "mydb" is of class and plan c and p,
// "loose" of a plan that cannot be bound to, "strict" of one with a schema, and
// "taken" is the Secret of binding "first".
func TestRulesOfBindings(t *testing.T) {
	t.Parallel()
	e := env.New(t)
	strict, ok := env.Plan{Name: e.Name("strict")}.Object().(*api.ClusterServicePlan)
	require.True(t, ok)
	strict.Spec.ClusterServiceClassRef.Name = e.Name("c")
	strict.Spec.ServiceBindingCreateParameterSchema = env.RawJSON(`{"additionalProperties":false,"required":["role"],"properties":{"user":{"enum":["reader"]},"role":{"type":"string"}}}`)
	strict.Spec.DefaultBindParameters = env.RawJSON(`{"zone":1}`)
	loose, ok := env.Plan{Name: e.Name("loose")}.Object().(*api.ClusterServicePlan)
	require.True(t, ok)
	loose.Spec.ClusterServiceClassRef.Name, loose.Spec.Bindable = e.Name("c"), new(bool)
	e.AddPlans(env.Class{Name: e.Name("c"), ServiceType: e.Name("db")}, env.Plan{Name: e.Name("p")})
	e.Create(strict, loose)
	e.CreateInstance("mydb", env.OfPlan(e.Name("c"), e.Name("p")))
	e.CreateInstance("strict", env.OfPlan(e.Name("c"), e.Name("strict")))
	e.CreateInstance("loose", env.OfPlan(e.Name("c"), e.Name("loose")))
	first := e.Binding("first", "mydb")
	first.Spec.SecretName = "taken"
	e.Create(first)
	holdsRules(e, env.Kind{Name: "ServiceBinding", Namespaced: true}, bindingRules, instancelessRules, bindingTransformRules())
}

// bindingRules are those of bindings to instance "mydb".
var bindingRules = map[string]rule{
	"InstanceName": {
		reason: "it is an object's name", passes: "instanceRef: {name: later}", told: `instance "later" does not exist yet`,
		fails: "instanceRef: {name: My_DB}", field: "spec.instanceRef.name",
	},
	"InstanceNameless": {reason: "it has a name", fails: "instanceRef: {}", field: "spec.instanceRef.name"},
	"InstanceElsewhere": {
		reason: "it is not shared", passes: "instanceRef: {name: mydb, namespace: NAMESPACE}",
		fails: "instanceRef: {name: mydb, namespace: default}", field: "spec.instanceRef",
	},
	"NotBindable": {
		reason: "its broker says no", passes: "instanceRef: {name: mydb}", fails: "instanceRef: {name: loose}",
		field: "spec.instanceRef.name",
	},

	"SecretName": {
		reason: "it is a Secret's name", passes: "instanceRef: {name: mydb}, secretName: a.b-c",
		fails: "instanceRef: {name: mydb}, secretName: My_Secret", field: "spec.secretName",
	},
	"SecretTaken": {
		reason: "another binding writes to it", passes: "instanceRef: {name: mydb}, secretName: free",
		fails: "instanceRef: {name: mydb}, secretName: taken", field: "spec.secretName",
	},
	"SecretSource": {
		reason: "it would be overwritten", passes: "instanceRef: {name: mydb}, parametersFrom: [{secretKeyRef: {name: s, key: k}}]",
		fails: "instanceRef: {name: mydb}, secretName: s, parametersFrom: [{secretKeyRef: {name: s, key: k}}]", field: "spec.secretName",
	},
	"SecretOwn": {
		reason: "it would be overwritten", passes: "instanceRef: {name: mydb}, secretTransforms: [{addKeysFrom: {secretRef: {name: s}}}]",
		fails: "instanceRef: {name: mydb}, secretName: s, secretTransforms: [{addKeysFrom: {secretRef: {name: s}}}]",
		field: "spec.secretName",
	},

	"Parameters": {
		reason: "an object", passes: "instanceRef: {name: mydb}, parameters: {a: null}",
		fails: "instanceRef: {name: mydb}, parameters: [1]", field: "spec.parameters",
	},
	"ParametersDeep": {
		reason: "that can be sent", passes: "instanceRef: {name: mydb}, parameters: " + env.Nested(60),
		fails: "instanceRef: {name: mydb}, parameters: " + env.Nested(70), field: "spec.parameters",
	},
	"Schema": {
		reason: "the plan's schema for bindings", passes: "instanceRef: {name: mydb}, parameters: {user: hush}",
		fails: "instanceRef: {name: strict}, parameters: {user: hush, role: a}", field: "spec.parameters/user",
	},
	"SchemaSecret": {
		reason: "a Secret may bring the rest; a default can be wrong too", fails: "instanceRef: {name: strict}, parametersFrom: [{secretKeyRef: {name: s, key: k}}]",
		field: "spec.parameters/zone",
	},
	"Source": {
		reason: "it says whose", passes: "instanceRef: {name: mydb}, parametersFrom: [{secretKeyRef: {name: s, key: k}}]",
		fails: "instanceRef: {name: mydb}, parametersFrom: [{}]", field: "spec.parametersFrom[0].secretKeyRef",
	},
	"SourceKey": {
		reason: "and which", fails: "instanceRef: {name: mydb}, parametersFrom: [{secretKeyRef: {name: s}}]",
		field: "spec.parametersFrom[0].secretKeyRef.key",
	},
	"SourceName": {
		reason: "it says whose", fails: "instanceRef: {name: mydb}, parametersFrom: [{secretKeyRef: {name: '', key: k}}]",
		field: "spec.parametersFrom[0].secretKeyRef.name",
	},
	"SourceTwice": {
		reason: "once is enough",
		passes: "instanceRef: {name: mydb}, parametersFrom: [{secretKeyRef: {name: s, key: k}}, {secretKeyRef: {name: s, key: l}}]",
		fails:  "instanceRef: {name: mydb}, parametersFrom: [{secretKeyRef: {name: s, key: k}}, {secretKeyRef: {name: s, key: k}}]",
		field:  "spec.parametersFrom[1].secretKeyRef",
	},

	"Type": {
		reason: "the instance's", passes: "instanceRef: {name: mydb}, serviceType: NAME(db)",
		fails: "instanceRef: {name: mydb}, serviceType: NAME(other)", field: "spec.serviceType",
	},
	"TypeLabel": {reason: "a DNS label", fails: "instanceRef: {name: mydb}, serviceType: My_SQL", field: "spec.serviceType"},
	"Class": {
		reason: "the instance's", passes: "instanceRef: {name: mydb}, clusterServiceClassExternalName: NAME(c)",
		fails: "instanceRef: {name: mydb}, clusterServiceClassExternalName: NAME(other)", field: "spec.clusterServiceClassExternalName",
	},
	"Plan": {
		reason: "the instance's", passes: "instanceRef: {name: mydb}, clusterServiceClassName: NAME(c), clusterServicePlanName: NAME(p)",
		fails: "instanceRef: {name: mydb}, clusterServiceClassName: NAME(c), clusterServicePlanName: NAME(strict)",
		field: "spec.clusterServicePlanName",
	},
	"BothScopes": {
		reason: "one catalog", fails: "instanceRef: {name: mydb}, clusterServiceClassName: NAME(c), serviceClassName: NAME(c)",
		field: "spec",
	},
	"TwoNames": {
		reason: "one name", fails: "instanceRef: {name: mydb}, clusterServiceClassName: NAME(c), clusterServiceClassExternalName: NAME(c)",
		field: "spec",
	},
	"Refs": {
		reason: "admission's",
		fails:  "instanceRef: {name: mydb}, clusterServiceClassRef: {name: NAME(c)}, clusterServicePlanRef: {name: NAME(p)}",
		field:  "spec.clusterServiceClassRef",
	},
	"RefsAbsent": {
		reason: "a backup leads somewhere",
		passes: "instanceRef: {name: mydb}, externalID: mine, clusterServiceClassRef: {name: NAME(c)}, clusterServicePlanRef: {name: NAME(p)}",
		told:   "taken as it is",
		fails:  "instanceRef: {name: mydb}, externalID: mine, clusterServiceClassRef: {name: NAME(c)}, clusterServicePlanRef: {name: NAME(absent)}",
		field:  "spec.clusterServicePlanRef",
	},
	"NoDefaults": {
		reason: "all or none", passes: "instanceRef: {name: mydb}, secretTransformDefaults: None",
		fails: "instanceRef: {name: mydb}, secretTransformDefaults: Some", field: "spec.secretTransformDefaults",
	},
	"ServiceName": {
		reason: "it is a Service's name", passes: "instanceRef: {name: mydb}, serviceName: a-b",
		fails: "instanceRef: {name: mydb}, serviceName: a.b", field: "spec.serviceName",
	},
	"Provision": {
		reason: "the instance is there", fails: "instanceRef: {name: mydb}, provisionParameters: {a: 1}", field: "spec.provisionParameters",
	},
	"Selector": {
		reason: "the instance is there", fails: "instanceRef: {name: mydb}, planSelector: {matchLabels: {a: b}}",
		field: "spec.planSelector",
	},
}

// instancelessRules are those of bindings that get an instance of their own.
var instancelessRules = map[string]rule{
	"NoInstance":     {reason: "something is asked for", fails: "parameters: {a: 1}", field: "spec.instanceRef"},
	"InstanceByType": {reason: "the type has a default", fails: "serviceType: NAME(db)", field: "spec.serviceType"},
	"InstanceByPlan": {
		reason: "the plan can be bound to", passes: "clusterServiceClassName: NAME(c), clusterServicePlanName: NAME(p), provisionParameters: {a: 1}",
		fails: "clusterServiceClassName: NAME(c), clusterServicePlanName: NAME(loose)", field: "spec.clusterServicePlanName",
	},
	"OwnParameters": {
		reason: "parameters are an object", fails: "clusterServiceClassName: NAME(c), clusterServicePlanName: NAME(p), provisionParameters: [1]",
		field: "spec.provisionParameters",
	},
}

func bindingTransformRules() map[string]rule {
	rules := map[string]rule{}
	for name, r := range transformRules("secretTransforms") {
		r.passes, r.fails = "instanceRef: {name: mydb}, "+r.passes, "instanceRef: {name: mydb}, "+r.fails
		if !slices.Contains([]string{"AddValue", "RenameTo", "NoListOfThem"}, name) {
			// They are merged, and so read, before the schema is asked.
			entry, _, _ := strings.Cut(r.field, "]")
			r.field = entry + "]"
		}
		rules["Transform"+name] = r
	}
	return rules
}
