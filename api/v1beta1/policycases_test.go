package v1beta1

import (
	"maps"
	"strings"
)

// policyCases are the rules of policies of both kinds.
func policyCases() map[string]ruleCase {
	with := func(rest string) string { return "{action: Deny, subjects: [{planName: p}]" + rest + "}" }
	subject := func(fields string) string { return "{action: Allow, subjects: [{" + fields + "}]}" }
	limit := func(action, limits string) string {
		return "{action: " + action + ", subjects: [{planName: p}], " + limits + "}"
	}
	both := map[string]ruleCase{
		"Everywhere":    {reason: "no namespaces is every namespace", spec: with("")},
		"Named":         {reason: "a namespace need not exist yet", spec: with(", namespaces: {names: [dev]}")},
		"Selected":      {reason: "an empty selector matches all", spec: with(", namespaces: {selector: {}}")},
		"NoNamespaces":  {reason: "it would hold nowhere", spec: with(", namespaces: {}"), field: "spec.namespaces", words: "namespaces selects none"},
		"EmptyNames":    {reason: "it would hold nowhere", spec: with(", namespaces: {names: []}"), field: "spec.namespaces", words: "namespaces selects none"},
		"NoNamespace":   {reason: "no namespace has it", spec: with(", namespaces: {names: [a.b]}"), field: "spec.namespaces.names[0]", words: "should match"},
		"EmptyName":     {reason: "no namespace has it", spec: with(`, namespaces: {names: [""]}`), field: "spec.namespaces.names[0]", words: "at least 1"},
		"Twice":         {reason: "a set", spec: with(", namespaces: {names: [a, a]}"), field: "spec.namespaces.names[1]", words: "Duplicate"},
		"NoAction":      {reason: "it says nothing", spec: "{subjects: [{planName: p}]}", field: "spec.action", words: "Required"},
		"BadAction":     {reason: "Allow or Deny", spec: "{action: deny, subjects: [{planName: p}]}", field: "spec.action", words: "Allow"},
		"NoSubjects":    {reason: "it is about nothing", spec: "{action: Deny, subjects: []}", field: "spec.subjects", words: "at least 1"},
		"SubjectsUnset": {reason: "it is about nothing", spec: "{action: Deny}", field: "spec.subjects", words: "Required"},
		"LongMessage":   {reason: "a message is a sentence", spec: with(", message: " + strings.Repeat("a", 513)), field: "spec.message", words: "512"},
		"Message":       {reason: "a sentence", spec: with(", message: " + strings.Repeat("a", 512))},
		"EmptyText":     {reason: "an empty name selects nothing", spec: subject(`serviceType: "", className: "", planName: ""`), field: "spec.subjects[0]", words: "a subject that says nothing"},
		"Type":          {reason: "by type", spec: subject("serviceType: mysql")},
		"BadType":       {reason: "not a DNS label", spec: subject("serviceType: MySQL"), field: "spec.subjects[0].serviceType", words: "should match"},
		"Class":         {reason: "by class, as its broker calls it", spec: subject("className: Azure MySQL")},
		"Plan":          {reason: "by plan, as its broker calls it", spec: subject("planName: 5 GB/s")},
		"EveryPlan":     {reason: "said in so many words", spec: subject("planSelector: {}")},
		"Costs":         {reason: "by price, alone", spec: subject(`costs: {currency: usd, unit: MONTHLY, above: "100"}`)},
		"CostsOfMany":   {reason: "with all that is said", spec: subject(`serviceType: mysql, costs: {currency: "€", unit: 1 GB of messages, above: "0.05", unknown: Allow}`)},
		"CostsOfNone":   {reason: "of which currency", spec: subject(`costs: {unit: MONTHLY, above: "1"}`), field: "spec.subjects[0].costs.currency", words: "Required"},
		"NegativeCosts": {reason: "no price", spec: subject(`costs: {currency: usd, unit: MONTHLY, above: "-1"}`), field: "spec.subjects[0].costs.above", words: "should match"},
		"ExponentCosts": {reason: "no plain decimal", spec: subject(`costs: {currency: usd, unit: MONTHLY, above: "1e3"}`), field: "spec.subjects[0].costs.above", words: "should match"},
		"OctalCosts":    {reason: "no plain decimal", spec: subject(`costs: {currency: usd, unit: MONTHLY, above: "0100"}`), field: "spec.subjects[0].costs.above", words: "should match"},
		"BlankCosts":    {reason: "spaces say nothing", spec: subject(`costs: {currency: " usd", unit: MONTHLY, above: "1"}`), field: "spec.subjects[0].costs.currency", words: "should match"},
		"MaybeCosts":    {reason: "Deny or Allow", spec: subject(`costs: {currency: usd, unit: MONTHLY, above: "1", unknown: Maybe}`), field: "spec.subjects[0].costs.unknown", words: "Deny"},
		"Changed":       {reason: "a rule may change", old: with(""), spec: subject("serviceType: mysql")},
	}
	cases := of("provisioningpolicies", both)
	maps.Copy(cases, of("bindingpolicies", both))
	maps.Copy(cases, of("provisioningpolicies", map[string]ruleCase{
		"NoFields": {reason: "it would be every plan", spec: subject(""), field: "spec.subjects[0]", words: "every plan is planSelector: {}"},

		"Limit":          {reason: "neither allows nor denies", spec: limit("Limit", "maxInstances: 2")},
		"LimitBoth":      {reason: "of both kinds", spec: limit("Limit", "maxInstances: 2, maxBindings: 0")},
		"AllowSome":      {reason: "allowed, and no more than that", spec: limit("Allow", "maxBindings: 10000")},
		"LimitOfNothing": {reason: "it would do nothing", spec: limit("Limit", "message: none"), field: "spec", words: "needs a limit: set maxInstances or maxBindings"},
		"DenySome":       {reason: "none is allowed there", spec: limit("Deny", "maxInstances: 2"), field: "spec", words: "no meaning beside the action Deny"},
		"Negative":       {reason: "no number of things", spec: limit("Limit", "maxInstances: -1"), field: "spec.maxInstances", words: "greater than or equal to 0"},
		"TooMany":        {reason: "as good as no limit", spec: limit("Limit", "maxBindings: 10001"), field: "spec.maxBindings", words: "less than or equal to 10000"},
	}))
	maps.Copy(cases, of("bindingpolicies", map[string]ruleCase{
		"Limit":          {reason: "how many bindings there are is of plans", spec: "{action: Limit, subjects: [{planName: p}]}", field: "spec.action", words: "a BindingPolicy has no limits"},
		"NoFields":       {reason: "it would be every instance", spec: subject(""), field: "spec.subjects[0]", words: "every instance is instanceSelector: {}"},
		"EveryInstance":  {reason: "said in so many words", spec: subject("instanceSelector: {}")},
		"Instance":       {reason: "one instance", spec: subject("instance: {namespace: dev, name: db.v2}")},
		"NoInstance":     {reason: "which instance", spec: subject("instance: {namespace: dev}"), field: "spec.subjects[0].instance.name", words: "Required"},
		"NoPlace":        {reason: "whose instance", spec: subject("instance: {name: db}"), field: "spec.subjects[0].instance.namespace", words: "Required"},
		"BadInstance":    {reason: "no instance has it", spec: subject("instance: {namespace: dev, name: DB}"), field: "spec.subjects[0].instance.name", words: "should match"},
		"BadPlace":       {reason: "no namespace has it", spec: subject("instance: {namespace: dev.eu, name: db}"), field: "spec.subjects[0].instance.namespace", words: "should match"},
		"SubjectOfThree": {reason: "all fields must hold", spec: subject("serviceType: mysql, instance: {namespace: dev, name: db}, instanceSelector: {matchLabels: {a: b}}")},
	}))
	return cases
}
