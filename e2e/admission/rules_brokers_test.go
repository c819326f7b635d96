package admission_test

import (
	"encoding/base64"
	"strings"
	"testing"

	"github.com/defaultplan/defaultplan/e2e/env"
)

// TestRulesOfBrokers in both scopes.
func TestRulesOfBrokers(t *testing.T) {
	t.Parallel()
	e := env.New(t)
	rules := brokerRules(base64.StdEncoding.EncodeToString(e.RESTConfig().CAData))
	cluster := map[string]rule{
		"BasicNoNamespace": {
			reason: "a cluster's broker is in no namespace", passes: "authInfo: {basic: {secretRef: {namespace: NAMESPACE, name: auth}}}",
			fails: "authInfo: {basic: {secretRef: {name: auth}}}", field: "spec.authInfo.basic",
		},
		"BearerNoNamespace": {
			reason: "a cluster's broker is in no namespace", passes: "authInfo: {bearer: {secretRef: {namespace: NAMESPACE, name: auth}}}",
			fails: "authInfo: {bearer: {secretRef: {name: auth}}}", field: "spec.authInfo.bearer",
		},
	}
	holdsRules(e, env.Kind{Name: "ClusterServiceBroker", Base: "url: 'https://broker.example'"}, rules, cluster)
	holdsRules(e, env.Kind{Name: "ServiceBroker", Base: "url: 'https://broker.example'", Namespaced: true}, bothScopes(rules))
}

// brokerRules are the rules; bundle is a certificate in PEM and base64.
func brokerRules(bundle string) map[string]rule {
	broken := base64.StdEncoding.EncodeToString([]byte("-----BEGIN CERTIFICATE-----\naGVsbG8=\n-----END CERTIFICATE-----\n"))
	rules := map[string]rule{
		"NoURL": {
			reason: "it must be reached", bare: true, passes: "url: 'https://broker.example'", fails: "relistBehavior: Manual",
			field: "spec.url",
		},
		"EmptyURL": {reason: "it must be reached", bare: true, passes: "url: 'https://broker.example/v1'", fails: "url: ''", field: "spec.url"},
		"URLScheme": {
			reason: "by HTTP", bare: true, passes: "url: 'http://broker.default.svc:8080'", fails: "url: 'ftp://broker.example'",
			field: "spec.url",
		},
		"URLHost": {
			reason: "at a host", bare: true, passes: "url: 'https://[2001:db8::1]:8443'", fails: "url: 'https:///v2'", field: "spec.url",
		},
		"URLRelative": {reason: "said whole", bare: true, passes: "url: 'https://broker.example'", fails: "url: broker.example", field: "spec.url"},
		"URLLong":     {reason: "within bounds", bare: true, fails: "url: 'https://" + strings.Repeat("a", 2050) + "'", field: "spec.url"},

		"BundleUnused": {
			reason: "nothing is verified", passes: "insecureSkipTLSVerify: true", fails: "insecureSkipTLSVerify: true, caBundle: aGVsbG8=",
			field: "spec.caBundle",
		},
		"BundleEncoding": {reason: "bytes are base64", passes: "caBundle: " + bundle, fails: "caBundle: 'no base64'", field: "spec.caBundle"},
		"BundleEmpty": {
			reason: "there is something to trust", passes: "caBundle: " + bundle, fails: "caBundle: aGVsbG8=", field: "spec.caBundle",
		},
		"BundleBroken": {reason: "it can be read", passes: "caBundle: " + bundle, fails: "caBundle: " + broken, field: "spec.caBundle"},

		"RelistBehavior": {
			reason: "one of two", passes: "relistBehavior: Manual", fails: "relistBehavior: Sometimes", field: "spec.relistBehavior",
		},
		"RelistAtOnce": {
			reason: "no time is no interval", passes: "relistDuration: 15m", fails: "relistDuration: 0s", field: "spec.relistDuration",
		},
		"RelistNoTime": {
			reason: "it is a duration", passes: "relistDuration: 1h30m", fails: "relistDuration: soon", field: "spec.relistDuration",
		},
		"RelistNegative": {reason: "it is a count", passes: "relistRequests: 3", fails: "relistRequests: -1", field: "spec.relistRequests"},
		"RelistBack": {
			reason: "it counts requests", from: "relistRequests: 5", passes: "relistRequests: 6", fails: "relistRequests: 4",
			field: "spec.relistRequests",
		},
		"RelistZero": {
			reason: "an old client's zero is no number", from: "relistRequests: 5", passes: "relistRequests: 0", stored: `{"relistRequests":5}`,
		},
		"RelistLess": {
			reason: "nor is it one to leave it out", from: "relistRequests: 5", passes: "relistRequests: null", stored: `{"relistRequests":5}`,
		},
		"RelistDefault": {reason: "at intervals, unless it says so", passes: "relistBehavior: ''", stored: `{"relistBehavior":"Duration"}`},

		"AuthEmpty": {
			reason: "it says how", passes: "authInfo: {basic: {secretRef: {namespace: NAMESPACE, name: auth}}}", fails: "authInfo: {}",
			field: "spec.authInfo",
		},
		"BasicEmpty": {
			reason: "it says whose", passes: "authInfo: {basic: {secretRef: {namespace: NAMESPACE, name: auth}}}",
			fails: "authInfo: {basic: {}}", field: "spec.authInfo.basic",
		},
		"BasicNoName": {
			reason: "it says whose", passes: "authInfo: {basic: {secretRef: {namespace: NAMESPACE, name: auth}}}",
			fails: "authInfo: {basic: {secretRef: {namespace: NAMESPACE, name: ''}}}", field: "spec.authInfo.basic",
		},
		"BearerEmpty": {
			reason: "it says whose", passes: "authInfo: {bearer: {secretRef: {namespace: NAMESPACE, name: auth}}}",
			fails: "authInfo: {bearer: {}}", field: "spec.authInfo.bearer",
		},
		"BearerNoName": {
			reason: "it says whose", passes: "authInfo: {bearer: {secretRef: {namespace: NAMESPACE, name: auth}}}",
			fails: "authInfo: {bearer: {secretRef: {namespace: NAMESPACE, name: ''}}}", field: "spec.authInfo.bearer",
		},
		"BasicOverBoth": {
			reason: "of two the first is used",
			passes: "authInfo: {basic: {secretRef: {namespace: NAMESPACE, name: a}}, bearer: {secretRef: {namespace: NAMESPACE, name: b}}}",
		},

		"ControllerName": {
			reason: "another controller knows nothing of it", from: "controllerName: ours", passes: "controllerName: ours",
			fails: "controllerName: theirs", field: "spec.controllerName",
		},
		"NameSuffix": {reason: "it is part of names", passes: "nameSuffix: eu", fails: "nameSuffix: EU!", field: "spec.nameSuffix"},
		"NameSuffixLong": {
			reason: "names have an end", passes: "nameSuffix: " + strings.Repeat("a", 20), fails: "nameSuffix: " + strings.Repeat("a", 21),
			field: "spec.nameSuffix",
		},
	}
	for name, r := range restrictionRules {
		rules["Restriction"+name] = r
	}
	return rules
}

// restrictionRules are those of catalogRestrictions. The retired catalog looked
// at the first requirement of each only.
var restrictionRules = map[string]rule{
	"Syntax": {
		reason: "a label selector", passes: "catalogRestrictions: {serviceClass: ['spec.externalName in (a, b)']}",
		fails: "catalogRestrictions: {serviceClass: [name=a, 'spec.externalName in']}", field: "spec.catalogRestrictions.serviceClass[1]",
	},
	"Empty": {
		reason: "it restricts something", passes: "catalogRestrictions: {serviceClass: []}",
		fails: "catalogRestrictions: {serviceClass: ['']}", field: "spec.catalogRestrictions.serviceClass[0]",
	},
	"First": {
		reason: "classes have such a property", passes: "catalogRestrictions: {serviceClass: ['name notin (a)']}",
		fails: "catalogRestrictions: {serviceClass: [color=red]}", field: "spec.catalogRestrictions.serviceClass[0]",
	},
	"Second": {
		reason: "each of them", passes: "catalogRestrictions: {serviceClass: ['spec.externalID=a,spec.externalName!=b']}",
		fails: "catalogRestrictions: {serviceClass: ['spec.externalName=a,tier=b']}", field: "spec.catalogRestrictions.serviceClass[0]",
	},
	"OfPlans": {
		reason: "a class is not free", passes: "catalogRestrictions: {servicePlan: [spec.free=true]}",
		fails: "catalogRestrictions: {serviceClass: [spec.free=true]}", field: "spec.catalogRestrictions.serviceClass[0]",
	},
	"Plan": {
		reason: "plans have such a property", passes: "catalogRestrictions: {servicePlan: ['name=a,spec.externalID=b,spec.externalName=c']}",
		fails: "catalogRestrictions: {servicePlan: [spec.weight=1]}", field: "spec.catalogRestrictions.servicePlan[0]",
	},
	"Class": {
		reason: "a plan's class is of its scope", passes: "catalogRestrictions: {servicePlan: [spec.clusterServiceClass.name=a]}",
		fails: "catalogRestrictions: {servicePlan: [spec.class=a]}", field: "spec.catalogRestrictions.servicePlan[0]",
	},
	"Changed": {
		reason: "what stood already is not looked at", from: "catalogRestrictions: {serviceClass: [name=a]}",
		passes: "relistBehavior: Manual", fails: "catalogRestrictions: {serviceClass: [name=a, color=red]}", field: "spec.catalogRestrictions.serviceClass[1]",
	},
}
