package admission_test

import (
	"cmp"
	"strings"
	"testing"

	"github.com/defaultplan/defaultplan/e2e/env"
)

// TestRulesOfClasses in both scopes.
func TestRulesOfClasses(t *testing.T) {
	t.Parallel()
	e := env.New(t)
	holdsRules(e, env.Kind{Name: "ClusterServiceClass", Base: "externalID: a"}, offeringRules("ClusterServiceClass"), clusterOfferingRules)
	holdsRules(e, env.Kind{Name: "ServiceClass", Base: "externalID: a", Namespaced: true}, bothScopes(offeringRules("ServiceClass")), localOfferingRules)
}

// TestRulesOfPlans in both scopes.
func TestRulesOfPlans(t *testing.T) {
	t.Parallel()
	e := env.New(t)
	e.AddPlans(env.Class{Name: e.Name("c"), Defaults: `{"zone":1}`}, env.Plan{Name: e.Name("p")})
	e.AddPlans(env.Class{Namespace: e.Namespace, Name: e.Name("c"), Defaults: `{"zone":1}`}, env.Plan{Name: e.Name("p")})
	cluster := env.Kind{Name: "ClusterServicePlan", Base: "externalID: a, clusterServiceClassRef: {name: NAME(c)}"}
	holdsRules(e, cluster, offeringRules(cluster.Name), clusterOfferingRules, planRules)
	namespaced := env.Kind{Name: "ServicePlan", Base: env.Local.Replace(cluster.Base), Namespaced: true}
	holdsRules(e, namespaced, bothScopes(offeringRules(namespaced.Name)), localOfferingRules, bothScopes(planRules))
}

// offeringRules are those of classes and plans alike.
func offeringRules(kind string) map[string]rule {
	externalID := "externalID: a"
	if strings.HasSuffix(kind, "Plan") {
		externalID = "externalID: a, clusterServiceClassRef: {name: NAME(c)}"
	}
	without := strings.TrimPrefix(strings.TrimPrefix(externalID, "externalID: a"), ", ")
	rules := map[string]rule{
		"NoExternalID": {
			reason: "it is what the broker is sent", bare: true, passes: externalID, fails: cmp.Or(without, "externalName: a"),
			field: "spec.externalID",
		},
		"ExternalIDLong": {
			reason: "it is a label's value too", passes: "externalID: " + strings.Repeat("a", 63),
			fails: "externalID: " + strings.Repeat("a", 64), field: "spec.externalID",
		},
		"ExternalIDNew": {
			reason: "instances are known by it", from: "externalName: a", passes: "externalName: b", fails: "externalID: b",
			field: "spec.externalID",
		},
		"NameLong": {
			reason: "within bounds", passes: "externalName: Azure MySQL 5.7", fails: "externalName: " + strings.Repeat("a", 64),
			field: "spec.externalName",
		},
		"BrokerName": {
			reason: "it is an object's name", passes: "clusterServiceBrokerName: broker.example",
			fails: "clusterServiceBrokerName: Broker!", field: "spec.clusterServiceBrokerName",
		},
		"BrokerNew": {
			reason: "its instances are there", from: "clusterServiceBrokerName: a", passes: "description: b",
			fails: "clusterServiceBrokerName: b", field: "spec.clusterServiceBrokerName",
		},
		"Type": {
			reason: "a DNS label", passes: "serviceType: mysql-database-and-server", fails: "serviceType: My_SQL",
			field: "spec.serviceType",
		},
		"TypeLong": {
			reason: "a DNS label", passes: "serviceType: " + strings.Repeat("a", 63), fails: "serviceType: " + strings.Repeat("a", 64),
			field: "spec.serviceType",
		},

		"Defaults": {
			reason: "an object", passes: "defaultProvisionParameters: {a: null}", fails: "defaultProvisionParameters: [1]",
			field: "spec.defaultProvisionParameters",
		},
		"DefaultsDeep": {
			reason: "that can be merged", passes: "defaultProvisionParameters: " + env.Nested(60),
			fails: "defaultProvisionParameters: " + env.Nested(70), field: "spec.defaultProvisionParameters",
		},
		"Bind": {
			reason: "an object", passes: "defaultBindParameters: {a: {b: 1}}", fails: "defaultBindParameters: reader",
			field: "spec.defaultBindParameters",
		},
		"BindDeep": {
			reason: "that can be merged", passes: "defaultBindParameters: " + env.Nested(60), fails: "defaultBindParameters: " + env.Nested(70),
			field: "spec.defaultBindParameters",
		},
		"DefaultsMend": {
			reason: "what was not changed is not looked at", from: "defaultProvisionParameters: {a: 1}", passes: "description: b",
			fails: "defaultProvisionParameters: " + env.Nested(70), field: "spec.defaultProvisionParameters",
		},
	}
	for name, r := range transformRules("defaultSecretTransforms") {
		rules["Transform"+name] = r
	}
	return rules
}

// transformRules are those of a list of transforms.
func transformRules(list string) map[string]rule {
	at := func(text string) string { return list + ": [" + text + "]" }
	field := "spec." + list + "[0]"
	return map[string]rule{
		"None": {reason: "one of four", passes: at("{removeKey: {key: a}}"), fails: at("{}"), field: field},
		"Two": {
			reason: "one at a time", passes: at("{removeKey: {key: a}}, {addKey: {key: a, stringValue: b}}"),
			fails: at("{removeKey: {key: a}, addKey: {key: b, stringValue: c}}"), field: field,
		},
		"RenameFrom": {
			reason: "it says what", passes: at("{renameKey: {from: a, to: b}}"), fails: at("{renameKey: {to: b}}"),
			field: field + ".renameKey.from",
		},
		"RenameTo": {
			reason: "and into what", passes: at("{renameKey: {from: a, to: a}}"), fails: at("{renameKey: {from: a, to: ''}}"),
			field: field + ".renameKey.to",
		},
		"AddKey": {
			reason: "it says which", passes: at("{addKey: {key: a, value: null, stringValue: null, jsonPathExpression: '{.a}'}}"),
			fails: at("{addKey: {stringValue: b}}"), field: field + ".addKey.key",
		},
		"AddValue": {
			reason: "bytes are base64", passes: at("{addKey: {key: a, value: aGVsbG8=}}"),
			fails: at("{addKey: {key: a, value: 'no base64'}}"), field: field + ".addKey.value",
		},
		"AddKeysFrom": {
			reason: "it says from where", passes: at("{addKeysFrom: {secretRef: {name: s, namespace: NAMESPACE}}}"),
			fails: at("{addKeysFrom: {}}"), field: field + ".addKeysFrom.secretRef",
		},
		"RemoveKey": {
			reason: "it says which", passes: at("{removeKey: {key: a}}"), fails: at("{removeKey: {key: ''}}"),
			field: field + ".removeKey.key",
		},
		"NoListOfThem": {reason: "it is a list", passes: list + ": []", fails: list + ": {removeKey: {key: a}}", field: "spec." + list},
	}
}

// clusterOfferingRules are those of the cluster's classes and plans alone.
var clusterOfferingRules = map[string]rule{
	"SecretSomewhere": {
		reason: "a Secret is in a namespace",
		passes: "defaultSecretTransforms: [{addKeysFrom: {secretRef: {namespace: default, name: s}}}]",
		fails:  "defaultSecretTransforms: [{addKeysFrom: {secretRef: {name: s}}}]", field: "spec.defaultSecretTransforms[0].addKeysFrom.secretRef.namespace",
	},
}

// localOfferingRules are those of a namespace's classes and plans alone.
var localOfferingRules = map[string]rule{
	"SecretElsewhere": {
		reason: "nothing is passed on from another namespace, for any writer",
		passes: "defaultSecretTransforms: [{addKeysFrom: {secretRef: {namespace: NAMESPACE, name: s}}}]",
		fails:  "defaultSecretTransforms: [{addKeysFrom: {secretRef: {namespace: default, name: s}}}]", field: "spec.defaultSecretTransforms[0].addKeysFrom.secretRef.namespace",
	},
	"TwoBrokers": {
		reason: "it is provisioned at one", passes: "clusterServiceBrokerName: a",
		fails: "serviceBrokerName: a, clusterServiceBrokerName: b", field: "spec.clusterServiceBrokerName",
	},
	"ClusterBrokerNew": {
		reason: "its instances are there", from: "clusterServiceBrokerName: a", passes: "description: b",
		fails: "clusterServiceBrokerName: b", field: "spec.clusterServiceBrokerName",
	},
}

// planRules are those of plans alone.
var planRules = map[string]rule{
	"NoClass": {
		reason: "it is a plan of something", bare: true, passes: "externalID: a, clusterServiceClassRef: {name: later}",
		fails: "externalID: a", field: "spec.clusterServiceClassRef",
	},
	"NamelessClass": {
		reason: "it is a plan of something", bare: true, passes: "externalID: a, clusterServiceClassRef: {name: later}",
		fails: "externalID: a, clusterServiceClassRef: {name: ''}", field: "spec.clusterServiceClassRef",
	},
	"ClassNew": {
		reason: "its instances are of that class", from: "description: a", passes: "description: b",
		fails: "clusterServiceClassRef: {name: other}", field: "spec.clusterServiceClassRef",
	},
	"WeightHigh": {reason: "within bounds", passes: "weight: 100000", fails: "weight: 100001", field: "spec.weight"},
	"WeightLow":  {reason: "within bounds", passes: "weight: -100000", fails: "weight: -100001", field: "spec.weight"},
	"Bindable":   {reason: "yes, no or the class's", passes: "bindable: null", fails: "bindable: sometimes", field: "spec.bindable"},
	"Free":       {reason: "yes or no", passes: "free: true", fails: "free: sometimes", field: "spec.free"},

	"CreateSchemaBroken": {
		reason: "a broker's schema is not the operator's fault", passes: "instanceCreateParameterSchema: {type: 5}",
		told: "spec.instanceCreateParameterSchema will be skipped",
	},
	"UpdateSchemaBroken": {
		reason: "a broker's schema is not the operator's fault",
		passes: "instanceUpdateParameterSchema: {$ref: 'http://elsewhere.example/a'}",
		told:   "spec.instanceUpdateParameterSchema will be skipped",
	},
	"BindSchemaBroken": {
		reason: "a broker's schema is not the operator's fault", passes: "serviceBindingCreateParameterSchema: {pattern: '('}",
		told: "spec.serviceBindingCreateParameterSchema will be skipped",
	},
	"DefaultOfWrongType": {
		reason: "its own schema refuses it", passes: "defaultProvisionParameters: {size: big}, instanceCreateParameterSchema: {required: [name], properties: {size: {type: integer}}}",
		told: "spec.defaultProvisionParameters/size is refused by spec.instanceCreateParameterSchema",
	},
	"DefaultOfClass": {
		reason: "what the class gives is given too", passes: "instanceCreateParameterSchema: {properties: {zone: {type: string}}}",
		told: `spec.defaultProvisionParameters/zone of class`,
	},
	"BindDefault": {
		reason: "its own schema refuses it", passes: "defaultBindParameters: {user: root}, serviceBindingCreateParameterSchema: {properties: {user: {enum: [reader]}}}",
		told: "spec.defaultBindParameters/user is refused by spec.serviceBindingCreateParameterSchema",
	},
	"DefaultThatFits": {
		reason: "a part of the whole is enough", passes: "defaultProvisionParameters: {size: 1}, instanceCreateParameterSchema: {required: [name], properties: {size: {type: integer}, zone: {type: integer}}}",
	},
}
