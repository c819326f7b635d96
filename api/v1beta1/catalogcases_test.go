package v1beta1

import (
	"maps"
	"strings"
)

// catalogCases are the rules of classes and plans.
func catalogCases() map[string]ruleCase {
	cases := make(map[string]ruleCase)
	for _, scope := range []struct{ class, plan, broker, ref string }{
		{"clusterserviceclasses", "clusterserviceplans", "clusterServiceBrokerName", "clusterServiceClassRef"},
		{"serviceclasses", "serviceplans", "serviceBrokerName", "serviceClassRef"},
		{"serviceclasses", "serviceplans", "clusterServiceBrokerName", "serviceClassRef"},
	} {
		maps.Copy(cases, of(scope.class, brokerNameCases(scope.broker, "")))
		maps.Copy(cases, of(scope.plan, brokerNameCases(scope.broker, ", "+scope.ref+": {name: c}")))
		maps.Copy(cases, of(scope.plan, planCases(scope.ref)))
		maps.Copy(cases, of(scope.class, classCases()))
		maps.Copy(cases, of(scope.class, sharedCases("")))
		maps.Copy(cases, of(scope.plan, sharedCases(", "+scope.ref+": {name: c}")))
	}
	for plural, ref := range map[string]string{"serviceclasses": "", "serviceplans": ", serviceClassRef: {name: c}"} {
		maps.Copy(cases, of(plural, map[string]ruleCase{
			"TwoBrokers": {
				reason: "one of them provisions", spec: "{externalID: i, serviceBrokerName: a, clusterServiceBrokerName: b" + ref + "}",
				field: "spec.clusterServiceBrokerName", words: "exclude each other",
			},
		}))
	}
	return cases
}

// brokerNameCases are the rules of the field that names the broker; rest is
// what else the spec needs.
func brokerNameCases(broker, rest string) map[string]ruleCase {
	with := func(name string) string { return "{externalID: i, " + broker + ": " + name + rest + "}" }
	return map[string]ruleCase{
		"Changed" + broker: {reason: "its instances are there", old: with("a"), spec: with("b"), field: "spec." + broker, words: broker + " cannot change"},
		"Added" + broker:   {reason: "a partial object is completed", old: with(`""`), spec: with("b")},
		"Dropped" + broker: {reason: "a chart applies its partial object again", old: with("a"), spec: "{externalID: i" + rest + "}"},
	}
}

func classCases() map[string]ruleCase {
	return map[string]ruleCase{
		"IDChanged": {
			reason: "instances were provisioned by this ID", old: "{externalID: i}", spec: "{externalID: j}",
			field: "spec.externalID", words: "externalID cannot change once set",
		},
		"Renamed": {reason: "a broker may", old: "{externalID: i, externalName: a}", spec: "{externalID: i, externalName: b}"},
	}
}

func planCases(ref string) map[string]ruleCase {
	words := "name the ClusterServiceClass"
	if ref == "serviceClassRef" {
		words = "name the ServiceClass"
	}
	spec := "{externalID: i, " + ref + ": {name: c}}"
	return map[string]ruleCase{
		"NoClassName": {reason: "a plan is of a class", spec: "{externalID: i, " + ref + ": {}}", field: "spec." + ref, words: words},
		"NoClass":     {reason: "a plan is of a class", spec: "{externalID: i}", field: "spec." + ref, words: "Required"},
		"ClassChanged": {
			reason: "instances refer to both", old: spec, spec: strings.Replace(spec, "name: c", "name: d", 1),
			field: "spec." + ref, words: ref + " cannot change",
		},
		"IDChanged": {
			reason: "the broker knows it by this ID", old: spec, spec: strings.Replace(spec, "externalID: i", "externalID: j", 1),
			field: "spec.externalID", words: "externalID cannot change once set",
		},
		"TooHeavy": {reason: "a bound", spec: strings.Replace(spec, "{ext", "{weight: 100001, ext", 1), field: "spec.weight", words: "100000"},
		"TooLight": {reason: "a bound", spec: strings.Replace(spec, "{ext", "{weight: -100001, ext", 1), field: "spec.weight", words: "-100000"},
	}
}

// sharedCases are the rules that classes and plans have in common; rest is what
// else the spec needs.
func sharedCases(rest string) map[string]ruleCase {
	transforms := func(one string) string {
		return "{externalID: i, defaultSecretTransforms: [{" + one + "}]" + rest + "}"
	}
	return map[string]ruleCase{
		"TwoTransforms": {
			reason: "the order would be unclear", field: "spec.defaultSecretTransforms[0]", words: "exactly one of",
			spec: transforms("removeKey: {key: a}, renameKey: {from: a, to: b}"),
		},
		"KeysFromNowhere": {
			reason: "no Secret", field: "spec.defaultSecretTransforms[0].addKeysFrom", words: "secretRef.name is required",
			spec: transforms("addKeysFrom: {secretRef: {namespace: x}}"),
		},
		"BadBytes":      {reason: "Go would not read it", spec: transforms("addKey: {key: a, value: x}"), field: "spec.defaultSecretTransforms[0].addKey.value", words: "should match"},
		"NoKey":         {reason: "a key has a name", spec: transforms("addKey: {value: eA==}"), field: "spec.defaultSecretTransforms[0].addKey.key", words: "Required"},
		"EmptyKey":      {reason: "a key has a name", spec: transforms(`removeKey: {key: ""}`), field: "spec.defaultSecretTransforms[0].removeKey.key", words: "at least 1"},
		"EmptyFrom":     {reason: "a key has a name", spec: transforms(`renameKey: {from: "", to: a}`), field: "spec.defaultSecretTransforms[0].renameKey.from", words: "at least 1"},
		"NoTo":          {reason: "a key has a name", spec: transforms(`renameKey: {from: a}`), field: "spec.defaultSecretTransforms[0].renameKey.to", words: "Required"},
		"EmptyID":       {reason: "nothing to send", spec: `{externalID: ""` + rest + "}", field: "spec.externalID", words: "at least 1"},
		"ListOfDefault": {reason: "parameters are an object", spec: "{externalID: i, defaultProvisionParameters: [1]" + rest + "}", field: "spec.defaultProvisionParameters", words: "object"},
		"BadType":       {reason: "not a DNS label", spec: "{externalID: i, serviceType: MySQL" + rest + "}", field: "spec.serviceType", words: "should match"},
	}
}

// typeCases are the rules of service types.
func typeCases() map[string]ruleCase {
	both := map[string]ruleCase{
		"Dots":      {reason: "a subdomain is no type", name: "mysql.v8", spec: "{}", field: "<nil>", words: "metadata.name is the service type"},
		"TooLong":   {reason: "no instance could name it", name: strings.Repeat("a", 64), spec: "{}", field: "<nil>", words: "at most 63"},
		"Longest":   {reason: "a label", name: strings.Repeat("a", 63), spec: "{}"},
		"EmptyPlan": {reason: "no plan has no name", name: "mysql", spec: `{defaultPlanRef: {name: ""}}`, field: "spec.defaultPlanRef.name", words: "at least 1"},
		"Recorded":  {reason: "the record may change", name: "mysql", old: "{defaultPlanRef: {name: a}}", spec: "{defaultPlanRef: {name: b}}"},
		"Cleared":   {reason: "the record may be cleared", name: "mysql", old: "{defaultPlanRef: {name: a}}", spec: "{}"},
	}
	cases := of("servicetypes", both)
	maps.Copy(cases, of("clusterservicetypes", both))
	return cases
}

// limitCases are the limits of instances and bindings.
func limitCases() map[string]ruleCase {
	both := map[string]ruleCase{
		"TypeTooLong":  {reason: "a DNS label", spec: "{serviceType: " + strings.Repeat("a", 64) + "}", field: "spec.serviceType", words: "63"},
		"TypeDots":     {reason: "a DNS label", spec: "{serviceType: a.b}", field: "spec.serviceType", words: "should match"},
		"LongType":     {reason: "a DNS label", spec: "{serviceType: " + strings.Repeat("a", 63) + "}"},
		"LongName":     {reason: "as brokers and the old catalog allow", spec: "{serviceClassExternalName: " + strings.Repeat("a", 64) + "}", field: "spec.serviceClassExternalName", words: "63"},
		"ObjectName":   {reason: "as object names are", spec: "{serviceClassName: " + strings.Repeat("a", 254) + "}", field: "spec.serviceClassName", words: "253"},
		"ListOfParams": {reason: "parameters are an object", spec: "{parameters: [1]}", field: "spec.parameters", words: "object"},
		"TextParams":   {reason: "parameters are an object", spec: "{parameters: a}", field: "spec.parameters", words: "object"},
		"NoSecretKey":  {reason: "a source without a source", spec: "{parametersFrom: [{}]}", field: "spec.parametersFrom[0].secretKeyRef", words: "Required"},
		"EmptyKey":     {reason: "a key has a name", spec: `{parametersFrom: [{secretKeyRef: {name: a, key: ""}}]}`, field: "spec.parametersFrom[0].secretKeyRef.key", words: "at least 1"},
	}
	cases := of("serviceinstances", both)
	maps.Copy(cases, of("servicebindings", both))
	maps.Copy(cases, of("servicebindings", map[string]ruleCase{
		"BadDefaults": {reason: "None or nothing", spec: "{secretTransformDefaults: Some}", field: "spec.secretTransformDefaults", words: "None"},
		"NoInstance":  {reason: "a reference has a name", spec: "{instanceRef: {name: \"\"}}", field: "spec.instanceRef.name", words: "at least 1"},
		"Rotates":     {reason: "in any unit", spec: `{rotation: {every: 31536000000ms, overlap: 0s}}`},
	}))
	maps.Copy(cases, of("serviceinstances", map[string]ruleCase{
		"Negative":    {reason: "a counter", spec: "{updateRequests: -1}", field: "spec.updateRequests", words: "greater than or equal to 0"},
		"SharedTwice": {reason: "a set", spec: "{sharing: {namespaces: [a, a]}}", field: "spec.sharing.namespaces[1]", words: "Duplicate"},
	}))
	return cases
}
