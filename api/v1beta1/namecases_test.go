package v1beta1

import (
	"fmt"
	"maps"
)

// A nameField is where a spec names an object: the spec with %q for the name,
// and the field.
type nameField struct{ plural, spec, field string }

// nameCases: what names an object must be a name that such an object can have.
// The retired catalog checked some of them; the others failed later.
func nameCases() map[string]ruleCase {
	cases := make(map[string]ruleCase)
	for _, plural := range []string{"serviceinstances", "servicebindings"} {
		maps.Copy(cases, subdomainCases(
			nameField{plural, "{parametersFrom: [{secretKeyRef: {name: %q, key: k}}]}", "spec.parametersFrom[0].secretKeyRef.name"},
			nameField{plural, "{clusterServiceClassRef: {name: %q}}", "spec.clusterServiceClassRef.name"},
			nameField{plural, "{clusterServicePlanRef: {name: %q}}", "spec.clusterServicePlanRef.name"},
			nameField{plural, "{serviceClassRef: {name: %q}}", "spec.serviceClassRef.name"},
			nameField{plural, "{servicePlanRef: {name: %q}}", "spec.servicePlanRef.name"},
		))
		maps.Copy(cases, of(plural, map[string]ruleCase{
			"SecretKey":    {reason: "as in a Secret", spec: "{parametersFrom: [{secretKeyRef: {name: a, key: Db.user_name-1}}]}"},
			"BadSecretKey": {reason: "no Secret has it", spec: "{parametersFrom: [{secretKeyRef: {name: a, key: a/b}}]}", field: "spec.parametersFrom[0].secretKeyRef.key", words: "should match"},
		}))
	}
	maps.Copy(cases, subdomainCases(
		nameField{"servicebindings", "{instanceRef: {name: %q}}", "spec.instanceRef.name"},
		nameField{"servicebindings", "{secretName: %q}", "spec.secretName"},
		nameField{"clusterserviceclasses", "{externalID: i, clusterServiceBrokerName: %q}", "spec.clusterServiceBrokerName"},
		nameField{"serviceclasses", "{externalID: i, clusterServiceBrokerName: %q}", "spec.clusterServiceBrokerName"},
		nameField{"serviceclasses", "{externalID: i, serviceBrokerName: %q}", "spec.serviceBrokerName"},
		nameField{"clusterserviceplans", "{externalID: i, clusterServiceClassRef: {name: %q}}", "spec.clusterServiceClassRef.name"},
		nameField{"clusterserviceplans", "{externalID: i, clusterServiceClassRef: {name: c}, clusterServiceBrokerName: %q}", "spec.clusterServiceBrokerName"},
		nameField{"serviceplans", "{externalID: i, serviceClassRef: {name: %q}}", "spec.serviceClassRef.name"},
		nameField{"serviceplans", "{externalID: i, serviceClassRef: {name: c}, clusterServiceBrokerName: %q}", "spec.clusterServiceBrokerName"},
		nameField{"serviceplans", "{externalID: i, serviceClassRef: {name: c}, serviceBrokerName: %q}", "spec.serviceBrokerName"},
	))
	maps.Copy(cases, labelCases(
		nameField{"servicebindings", "{instanceRef: {name: i, namespace: %q}}", "spec.instanceRef.namespace"},
		nameField{"servicebindings", "{serviceName: %q}", "spec.serviceName"},
		nameField{"serviceinstances", "{sharing: {namespaces: [%q]}}", "spec.sharing.namespaces[0]"},
	))
	for _, holder := range []struct{ plural, rest, list string }{
		{"servicebindings", "", "secretTransforms"},
		{"clusterserviceclasses", "externalID: i, ", "defaultSecretTransforms"},
		{"serviceclasses", "externalID: i, ", "defaultSecretTransforms"},
		{"clusterserviceplans", "externalID: i, clusterServiceClassRef: {name: c}, ", "defaultSecretTransforms"},
		{"serviceplans", "externalID: i, serviceClassRef: {name: c}, ", "defaultSecretTransforms"},
	} {
		with := func(secretRef string) string {
			return "{" + holder.rest + holder.list + ": [{addKeysFrom: {secretRef: " + secretRef + "}}]}"
		}
		at := "spec." + holder.list + "[0].addKeysFrom.secretRef."
		maps.Copy(cases, subdomainCases(nameField{holder.plural, with("{name: %q}"), at + "name"}))
		maps.Copy(cases, labelCases(nameField{holder.plural, with("{name: s, namespace: %q}"), at + "namespace"}))
	}
	return cases
}

func subdomainCases(fields ...nameField) map[string]ruleCase {
	cases := make(map[string]ruleCase)
	for _, f := range fields {
		maps.Copy(cases, of(f.plural, map[string]ruleCase{
			"Subdomain/" + f.field: {reason: "a name", spec: fmt.Sprintf(f.spec, "a-1.b2")},
			"Capitals/" + f.field:  {reason: "no object has it", spec: fmt.Sprintf(f.spec, "My_DB"), field: f.field, words: "should match"},
			"Dot/" + f.field:       {reason: "no object has it", spec: fmt.Sprintf(f.spec, "a..b"), field: f.field, words: "should match"},
		}))
	}
	return cases
}

func labelCases(fields ...nameField) map[string]ruleCase {
	cases := make(map[string]ruleCase)
	for _, f := range fields {
		maps.Copy(cases, of(f.plural, map[string]ruleCase{
			"Label/" + f.field: {reason: "a name", spec: fmt.Sprintf(f.spec, "a-1")},
			"Dots/" + f.field:  {reason: "no object has it", spec: fmt.Sprintf(f.spec, "a.b"), field: f.field, words: "should match"},
		}))
	}
	return cases
}
