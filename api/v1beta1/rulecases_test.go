package v1beta1

import (
	"maps"
	"strings"
	"testing"

	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
)

func TestInstanceRules(t *testing.T)    { t.Parallel(); run(t, decisionCases("serviceinstances")) }
func TestBindingRules(t *testing.T)     { t.Parallel(); run(t, bindingCases()) }
func TestBrokerRules(t *testing.T)      { t.Parallel(); run(t, brokerCases()) }
func TestCatalogRules(t *testing.T)     { t.Parallel(); run(t, catalogCases()) }
func TestServiceTypeRules(t *testing.T) { t.Parallel(); run(t, typeCases()) }
func TestPolicyRules(t *testing.T)      { t.Parallel(); run(t, policyCases()) }
func TestLimits(t *testing.T)           { t.Parallel(); run(t, limitCases()) }
func TestNames(t *testing.T)            { t.Parallel(); run(t, nameCases()) }

// decisionCases are the rules that instances and bindings share.
func decisionCases(plural string) map[string]ruleCase {
	const decided = `{serviceType: mysql, externalID: a, clusterServiceClassRef: {name: c}, clusterServicePlanRef: {name: p}}`
	cases := map[string]ruleCase{
		"BothScopesByName": {
			reason: "a class here and a plan there", spec: `{clusterServiceClassName: a, servicePlanExternalName: b}`,
			field: "spec", words: "not both: remove one kind",
		},
		"BothScopesByRef": {
			reason: "the refs count too", spec: `{serviceClassName: a, clusterServicePlanRef: {name: b}}`, field: "spec", words: "not both: remove one kind",
		},
		"OneScope": {reason: "names and refs of one scope", spec: `{clusterServiceClassName: a, clusterServiceClassRef: {name: b}, serviceClassName: ""}`},
		"SelectorAndPlan": {
			reason: "a selector would choose what is named", spec: `{clusterServiceClassName: a, clusterServicePlanName: p, planSelector: {matchLabels: {a: b}}}`,
			field: "spec.planSelector", words: "exclude each other",
		},
		"ExpressionsAndPlan": {
			reason: "expressions select too", spec: `{serviceClassName: a, servicePlanExternalID: p, planSelector: {matchExpressions: [{key: a, operator: Exists}]}}`,
			field: "spec.planSelector", words: "remove one",
		},
		"SelectorOnceDecided": {
			reason: "what was selected may be changed by name",
			spec:   `{clusterServicePlanExternalName: p, clusterServicePlanRef: {name: q}, clusterServiceClassRef: {name: c}, planSelector: {matchLabels: {a: b}}}`,
		},
		"SelectorAndClass": {reason: "a class narrows a selector", spec: `{clusterServiceClassName: a, planSelector: {matchLabels: {a: b}}}`},
		"ClassRefRemoved": {
			reason: "a decision stays", old: `{clusterServiceClassRef: {name: c}}`, spec: `{clusterServiceClassRef: {}}`,
			field: "spec", words: "clusterServiceClassRef or serviceClassRef cannot be removed",
		},
		"PlanRefRemoved": {
			reason: "a decision stays", old: `{servicePlanRef: {name: p}}`, spec: `{}`, field: "spec", words: "clusterServicePlanRef or servicePlanRef cannot be removed",
		},
		"OtherScopeLater": {
			reason: "whether a ref may change is the webhook's", old: `{clusterServiceClassRef: {name: c}, clusterServicePlanRef: {name: p}}`,
			spec: `{serviceClassRef: {name: c}, servicePlanRef: {name: p}}`,
		},
		"TypeRemoved": {
			reason: "even undecided", old: `{serviceType: mysql}`, spec: `{serviceType: ""}`, field: "spec.serviceType", words: "cannot be removed once set",
		},
		"TypeCorrected": {reason: "undecided, it may change", old: `{serviceType: mysq}`, spec: `{serviceType: mysql}`},
		"TypeAdded":     {reason: "decided without a type, it may be told", old: `{clusterServicePlanRef: {name: p}}`, spec: `{serviceType: mysql, clusterServicePlanRef: {name: p}}`},
		"TypeChanged": {
			reason: "decided", old: decided, spec: strings.Replace(decided, "mysql", "redis", 1),
			field: "spec.serviceType", words: "cannot change once a plan is decided on",
		},
		"IDChanged": {
			reason: "the broker knows it by this ID", old: decided, spec: strings.Replace(decided, "externalID: a", "externalID: b", 1),
			field: "spec.externalID", words: "cannot be changed or removed once set",
		},
		"IDRemoved": {
			reason: "the broker knows it by this ID", old: `{externalID: a}`, spec: `{}`, field: "spec.externalID", words: "cannot be changed or removed once set",
		},
		"IDMinted":  {reason: "an empty ID may be filled", old: `{externalID: ""}`, spec: `{externalID: a}`},
		"Unchanged": {reason: "the same again", old: decided, spec: decided},
	}
	return of(plural, cases)
}

func bindingCases() map[string]ruleCase {
	cases := of("servicebindings", map[string]ruleCase{
		"LongEvery":   {reason: "no Go client could read any list with it", spec: `{rotation: {every: 99999999999999999h}}`, field: "spec.rotation", words: "every must be a time of at most 290 years: write it as 720h"},
		"LongOverlap": {reason: "nor with this", spec: `{rotation: {overlap: 3000000h}}`, field: "spec.rotation", words: "overlap must be a time of at most 290 years: write it as 10m"},
		"InstanceRemoved": {
			reason: "credentials are of one instance", old: `{instanceRef: {name: i}}`, spec: `{}`, field: "spec.instanceRef", words: "cannot be removed once set",
		},
		"InstanceChanged": {
			reason: "credentials are of one instance", old: `{instanceRef: {name: i}}`, spec: `{instanceRef: {name: j}}`,
			field: "spec.instanceRef", words: "instanceRef cannot change",
		},
		"NamespaceChanged": {
			reason: "credentials are of one instance", old: `{instanceRef: {name: i, namespace: a}}`, spec: `{instanceRef: {name: i, namespace: b}}`,
			field: "spec.instanceRef", words: "instanceRef cannot change",
		},
		"NamespaceRemoved": {
			reason: "another namespace is another instance", old: `{instanceRef: {name: i, namespace: a}}`, spec: `{instanceRef: {name: i}}`,
			field: "spec.instanceRef", words: "instanceRef cannot change",
		},
		"EmptyNamespace": {reason: "an empty namespace is none", old: `{instanceRef: {name: i, namespace: ""}}`, spec: `{instanceRef: {name: i}}`},
		"TwoTransforms": {
			reason: "the order would be unclear", spec: `{secretTransforms: [{removeKey: {key: a}, renameKey: {from: a, to: b}}]}`,
			field: "spec.secretTransforms[0]", words: "exactly one of",
		},
		"NoTransform": {reason: "it would do nothing", spec: `{secretTransforms: [{}]}`, field: "spec.secretTransforms[0]", words: "exactly one of"},
		"KeysFromNowhere": {
			reason: "no Secret", spec: `{secretTransforms: [{addKeysFrom: {secretRef: {}}}]}`,
			field: "spec.secretTransforms[0].addKeysFrom", words: "secretRef.name is required",
		},
		"BadBytes": {
			reason: "Go would not read it", spec: `{secretTransforms: [{addKey: {key: a, value: x}}]}`,
			field: "spec.secretTransforms[0].addKey.value", words: "should match",
		},
		"KeysFrom": {reason: "a Secret", spec: `{secretTransforms: [{addKeysFrom: {secretRef: {name: s}}}]}`},
	})
	maps.Copy(cases, decisionCases("servicebindings"))
	return cases
}

// of gives cases their resource, and names that are unique over resources.
func of(plural string, cases map[string]ruleCase) map[string]ruleCase {
	result := make(map[string]ruleCase, len(cases))
	for name, tc := range cases {
		tc.plural = plural
		result[name+"/"+plural] = tc
	}
	return result
}

// collectRules calls found with the message of every rule of a schema.
func collectRules(schema *structuralschema.Structural, found func(message string)) {
	if schema == nil {
		return
	}
	for _, rule := range schema.XValidations {
		found(rule.Message)
	}
	for _, property := range schema.Properties {
		collectRules(&property, found)
	}
	collectRules(schema.Items, found)
	if schema.AdditionalProperties != nil {
		collectRules(schema.AdditionalProperties.Structural, found)
	}
}

// refusedSomewhere says whether a case of the resource expects the message.
func refusedSomewhere(plural, message string) bool {
	for _, cases := range []map[string]ruleCase{
		decisionCases("serviceinstances"), bindingCases(), brokerCases(), catalogCases(), typeCases(), policyCases(),
	} {
		for _, tc := range cases {
			if tc.plural == plural && tc.words != "" && strings.Contains(message, tc.words) {
				return true
			}
		}
	}
	return false
}
