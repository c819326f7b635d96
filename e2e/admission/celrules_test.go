package admission_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/defaultplan/defaultplan/e2e/env"
)

// TestTheSchemaSaysWhatIsWrong: what the definitions themselves refuse, with
// words that say what to do.
func TestTheSchemaSaysWhatIsWrong(t *testing.T) {
	t.Parallel()
	e := env.New(t)
	for name, tc := range map[string]struct{ reason, kind, spec, want string }{
		"TypeName":          {"a type is a DNS label", "ClusterServiceClass", "{externalID: a, serviceType: My_SQL}", "spec.serviceType"},
		"Weight":            {"bounds", "ClusterServicePlan", "{externalID: a, clusterServiceClassRef: {name: c}, weight: 100001}", "spec.weight"},
		"PlanWithoutClass":  {"its class is needed", "ClusterServicePlan", "{externalID: a, clusterServiceClassRef: {}}", "clusterServiceClassRef.name is required: name the ClusterServiceClass"},
		"LocalWithoutClass": {"its class is needed", "ServicePlan", "{externalID: a, serviceClassRef: {name: ''}}", "serviceClassRef.name is required"},
		"TwoBrokers":        {"one broker", "ServiceClass", "{externalID: a, serviceBrokerName: a, clusterServiceBrokerName: b}", "exclude each other: remove one"},
		"NoExternalID":      {"the broker is sent it", "ClusterServiceClass", "{externalName: a}", "spec.externalID"},
		"EmptyRecord":       {"a record names a plan", "ClusterServiceType", "{defaultPlanRef: {name: ''}}", "spec.defaultPlanRef.name"},
		"ParametersScalar":  {"an object", "ClusterServicePlan", "{externalID: a, clusterServiceClassRef: {name: c}, defaultProvisionParameters: 3}", "spec.defaultProvisionParameters"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := e.In(t)
			said := e.KubectlFails(object(tc.kind, e.Name(strings.ToLower(name)), tc.spec), "create", "-f", "-")
			assert.Contains(t, said, tc.want, tc.reason)
		})
	}
	t.Run("RecordOfNoType", func(t *testing.T) {
		t.Parallel()
		said := e.In(t).KubectlFails(object("ClusterServiceType", "my.sql", "{}"), "create", "-f", "-")
		assert.Contains(t, said, "metadata.name is the service type: at most 63 lower-case letters")
	})
}

// TestTheSchemaHoldsWhatCannotChange of the catalog.
func TestTheSchemaHoldsWhatCannotChange(t *testing.T) {
	t.Parallel()
	e := env.New(t)
	e.AddPlans(env.Class{Name: e.Name("c")}, env.Plan{Name: e.Name("p")})
	e.AddPlans(env.Class{Namespace: e.Namespace, Name: e.Name("c")}, env.Plan{Name: e.Name("p")})
	for _, tc := range []struct{ resource, patch, want string }{
		{"clusterserviceplan", `{"spec":{"clusterServiceClassRef":{"name":"other"}}}`, "clusterServiceClassRef cannot change: put the stored value back, or make a new plan"},
		{"clusterserviceplan", `{"spec":{"externalID":"other"}}`, "externalID cannot change once set"},
		{"clusterserviceclass", `{"spec":{"clusterServiceBrokerName":"other"}}`, "clusterServiceBrokerName cannot change once set"},
		{"serviceplan", `{"spec":{"serviceClassRef":{"name":"other"}}}`, "serviceClassRef cannot change"},
		{"serviceclass", `{"spec":{"serviceBrokerName":"other"}}`, "serviceBrokerName cannot change once set"},
	} {
		name := e.Name("p")
		if strings.HasSuffix(tc.resource, "class") {
			name = e.Name("c")
		}
		assert.Contains(t, e.KubectlFails("", "patch", tc.resource, name, "--type=merge", "-p", tc.patch), tc.want)
	}
}

// object is a manifest of one of our kinds; spec is YAML in one line.
func object(kind, name, spec string) string {
	return fmt.Sprintf("apiVersion: servicecatalog.k8s.io/v1beta1\nkind: %s\nmetadata: {name: %s}\nspec: %s\n", kind, name, spec)
}
