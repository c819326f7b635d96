package webhook

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/defaultplan/defaultplan/webhook/options"
)

const (
	onePlan  = `{"externalID":"p1","externalName":"small","clusterServiceClassRef":{"name":"db"}}`
	oneClass = `{"externalID":"c1","externalName":"db"}`

	sizes = `{"type":"object","required":["name"],"properties":{"size":{"enum":["S","L"]},"name":{"type":"string"}},"additionalProperties":false}`
)

// with is a spec with more in it.
func with(spec, more string) string { return strings.TrimSuffix(spec, "}") + "," + more + "}" }

func nested(depth int) string {
	return strings.Repeat(`{"a":`, depth) + "1" + strings.Repeat("}", depth)
}

// offeringRules are the rules of classes and plans, each kept and broken.
func offeringRules() map[string]ruleCase {
	all := map[string]ruleCase{}
	for _, cases := range []map[string]ruleCase{shapeRules(), schemaRules(), planDefaultRules(), classDefaultRules()} {
		for name, tc := range cases {
			if all[name] = tc; tc.kind == "" {
				tc.kind = "ClusterServicePlan"
				all[name] = tc
			}
		}
	}
	return all
}

// shapeRules are about what defaults are.
func shapeRules() map[string]ruleCase {
	deep, large := nested(65), `{"text":"`+strings.Repeat("x", 300<<10)+`"}`
	gateOff := func(c *catalogEnv) { gatesOff(c.env, options.ParameterDefaults) }
	return map[string]ruleCase{
		"Plain":             {reason: "A plan without anything.", spec: onePlan},
		"PlainClass":        {reason: "A class without anything.", kind: "ClusterServiceClass", spec: oneClass},
		"DefaultsDeep":      {reason: "What cannot be merged cannot be a default.", spec: with(onePlan, `"defaultProvisionParameters":`+deep), denied: "InvalidDefaults"},
		"DefaultsLarge":     {reason: "Nor what is too large.", spec: with(onePlan, `"defaultProvisionParameters":`+large), denied: "InvalidDefaults"},
		"DefaultsOfBinding": {reason: "Of a binding, too.", kind: "ClusterServiceClass", spec: with(oneClass, `"defaultBindParameters":`+deep), denied: "InvalidDefaults"},
		"DefaultsBoth":      {reason: "Both are told.", spec: with(onePlan, `"defaultProvisionParameters":`+deep+`,"defaultBindParameters":`+large), denied: "InvalidDefaults"},
		"DefaultsDeepest":   {reason: "As deep as may be.", spec: with(onePlan, `"defaultProvisionParameters":`+nested(64))},
		"DefaultsWereWrong": {reason: "What was always wrong stays as it is.", old: with(onePlan, `"defaultProvisionParameters":`+deep), patch: `{"spec":{"description":"x"}}`},
		"DefaultsOff":       {reason: "What is not applied is not judged.", spec: with(onePlan, `"defaultProvisionParameters":`+deep), adjust: gateOff},
	}
}

// schemaRules are about schemas that cannot be used.
func schemaRules() map[string]ruleCase {
	broken, large := `{"type":7}`, `{"description":"`+strings.Repeat("x", 70<<10)+`"}`
	outside := `{"$ref":"https://example.org/schema"}`
	return map[string]ruleCase{
		"SchemaGood": {reason: "A schema that compiles.", spec: with(onePlan, `"instanceCreateParameterSchema":`+sizes)},
		"SchemasBroken": {
			reason: "Each that does not is told.",
			spec:   with(onePlan, `"instanceCreateParameterSchema":`+broken+`,"instanceUpdateParameterSchema":`+large+`,"serviceBindingCreateParameterSchema":`+outside),
			warnings: []string{
				`spec.instanceCreateParameterSchema will be skipped: cannot use the JSON schema: does not compile: "/type" must match at least one of the schema's alternatives`,
				`spec.instanceUpdateParameterSchema will be skipped: cannot use the JSON schema: too large: 71698 bytes, at most 65536 are allowed`,
				`spec.serviceBindingCreateParameterSchema will be skipped: cannot use the JSON schema: references outside the document: https://example.org/schema`,
			},
		},
		"SchemaChanged": {
			reason: "A change, too.", old: onePlan, patch: `{"spec":{"instanceUpdateParameterSchema":` + outside + `}}`,
			warnings: []string{`spec.instanceUpdateParameterSchema will be skipped: cannot use the JSON schema: references outside the document: https://example.org/schema`},
		},
		"SchemaWasBroken":  {reason: "What was always so is not told again.", old: with(onePlan, `"instanceCreateParameterSchema":`+broken), patch: `{"spec":{"description":"x"}}`},
		"SchemaChecksOff":  {reason: "Nothing is checked.", spec: with(onePlan, `"instanceCreateParameterSchema":`+broken), adjust: func(c *catalogEnv) { c.options.SchemaCheck = options.SchemaOff }},
		"SchemaChecksShut": {reason: "Nor with the gate shut.", spec: with(onePlan, `"instanceCreateParameterSchema":`+broken), adjust: func(c *catalogEnv) { gatesOff(c.env, options.SchemaChecks) }},
	}
}

// planDefaultRules are about a plan's defaults and its own schemas.
func planDefaultRules() map[string]ruleCase {
	sized := with(onePlan, `"instanceCreateParameterSchema":`+sizes)
	bound := with(onePlan, `"serviceBindingCreateParameterSchema":`+sizes)
	give := func(value string) string { return `"defaultProvisionParameters":{"size":"` + value + `"}` }
	classGives := func(parameters string) func(string) []func(*stock) {
		return func(at string) []func(*stock) { return []func(*stock){classDefaults(at+"db", parameters)} }
	}
	const refused = `spec.defaultProvisionParameters/size is refused by spec.instanceCreateParameterSchema: it must be one of "L", "S"`
	const classRefused = `spec.defaultProvisionParameters/size of class "db" is refused by spec.instanceCreateParameterSchema: it must be one of "L", "S"`
	return map[string]ruleCase{
		"DefaultAllowed":      {reason: "A default is not the whole: what is required may come from the user.", spec: with(sized, give("S"))},
		"DefaultRefused":      {reason: "The key is told, not the value.", spec: with(sized, give(canary)), warnings: []string{refused}},
		"DefaultRefusedLater": {reason: "A default that changes.", old: sized, spec: with(sized, give(canary)), warnings: []string{refused}},
		"SchemaRefusesLater":  {reason: "A schema that changes.", old: with(onePlan, give(canary)), spec: with(sized, give(canary)), warnings: []string{refused}},
		"DefaultWasRefused":   {reason: "What was always so is not told again.", old: with(sized, give(canary)), patch: `{"spec":{"description":"x"}}`},
		"DefaultUnknownKey": {
			reason: "A key that there is not.", spec: with(sized, `"defaultProvisionParameters":{"color":"`+canary+`"}`),
			warnings: []string{`spec.defaultProvisionParameters/color is refused by spec.instanceCreateParameterSchema: it is not a property that the schema allows`},
		},
		"BindDefaultRefused": {
			reason: "A binding's, by the binding's schema.", spec: with(bound, `"defaultBindParameters":{"size":1}`+","+give(canary)),
			warnings: []string{`spec.defaultBindParameters/size is refused by spec.serviceBindingCreateParameterSchema: it must be one of "L", "S"`},
		},
		"BindDefaultsOff":      {reason: "What is not applied is not judged.", spec: with(bound, `"defaultBindParameters":{"size":1}`), adjust: func(c *catalogEnv) { gatesOff(c.env, options.BindDefaults) }},
		"ClassDefaultRefused":  {reason: "The class's default reaches the plan's instances.", catalog: "db:", edits: classGives(`{"size":"` + canary + `"}`), spec: sized, warnings: []string{classRefused}},
		"ClassDefaultBeaten":   {reason: "Unless the plan has its own.", catalog: "db:", edits: classGives(`{"size":"` + canary + `"}`), spec: with(sized, give("L"))},
		"ClassDefaultAway":     {reason: "Or wants none.", catalog: "db:", edits: classGives(`{"size":"` + canary + `"}`), spec: with(sized, `"defaultProvisionParameters":{"size":null}`)},
		"ClassDefaultBroken":   {reason: "What cannot be merged is told where it is written.", catalog: "db:", edits: classGives(nested(65)), spec: with(sized, give(canary))},
		"ClassAbsent":          {reason: "A plan may come before its class.", spec: with(sized, give(canary)), warnings: []string{refused}},
		"DefaultOnlyForSchema": {reason: "No schema, no opinion.", spec: with(onePlan, give(canary))},
	}
}

// classDefaultRules are about a class's defaults and its plans' schemas.
func classDefaultRules() map[string]ruleCase {
	all := func(more ...func(*stock)) func(string) []func(*stock) {
		return func(at string) []func(*stock) {
			return append([]func(*stock){
				createSchemaOf(at+"db-a", sizes), createSchemaOf(at+"db-b", sizes), createSchemaOf(at+"db-c", `{"properties":{"size":{"type":"string"}}}`),
				planDefaults(at+"db-b", `{"name":7}`),
			}, more...)
		}
	}
	overrules := func(at string) []func(*stock) {
		return append(all()(at), planDefaults(at+"db-a", `{"size":"S"}`), planDefaults(at+"db-b", `{"size":null,"name":7}`))
	}
	many := "db:"
	for i := range 101 {
		many += fmt.Sprintf(" p%03d", i)
	}
	refusing := func(s *stock) {
		for _, object := range s.objects {
			if isPlan(object) {
				planSpec(object).InstanceCreateParameterSchema = rawExtension(sizes)
			}
		}
	}
	gives := with(`{"externalID":"c1","externalName":"db"}`, `"defaultProvisionParameters":{"size":"`+canary+`"}`)
	const named = `{"metadata":{"name":"db"}}`
	strange := func(at string) []func(*stock) { return all(createSchemaOf(at+"db2-d", sizes))(at) }
	shuffled := func(c *catalogEnv) { c.cached.shuffle = rand.New(rand.NewPCG(1, 2)) }
	refuseAll := func(string) []func(*stock) { return []func(*stock){refusing} }
	const refused = `spec.defaultProvisionParameters/size is refused by the schema of plan a, b: it must be one of "L", "S"`
	const seventimes = `spec.defaultProvisionParameters/size is refused by the schema of plan a, b, c, d, e and 2 more: it must be one of "L", "S"`
	cases := map[string]ruleCase{
		"ByPlans":         {reason: "Each plan that refuses is named.", catalog: "db: b a c;db2: d", edits: strange, spec: gives, patch: named, adjust: shuffled, warnings: []string{refused}},
		"ByPlansLater":    {reason: "A change, too.", catalog: "db: b a c", edits: all(), old: oneClass, spec: gives, patch: named, warnings: []string{refused}},
		"ByPlansOverrule": {reason: "Plans with their own are not concerned.", catalog: "db: b a c", edits: overrules, spec: gives, patch: named},
		"ByPlansUnasked":  {reason: "What does not change is not asked.", catalog: "db: b a c", edits: all(), old: gives, spec: with(gives, `"description":"x"`), patch: named},
		"ByPlansCleared":  {reason: "No default, no question.", catalog: "db: b a c", edits: all(), old: gives, spec: oneClass, patch: named},
		"ByPlansSeven":    {reason: "As many as there is room for.", catalog: "db: a b c d e f g", edits: refuseAll, spec: gives, patch: named, warnings: []string{seventimes}},
		"ByPlansTooMany": {
			reason: "So many are not asked.", catalog: many, edits: refuseAll, spec: gives, patch: named,
		},
		"ByPlansOff": {reason: "Nothing is checked.", catalog: "db: b a c", edits: all(), spec: gives, patch: named, adjust: func(c *catalogEnv) { c.options.SchemaCheck = options.SchemaOff }},
	}
	for name, tc := range cases {
		tc.kind = "ClusterServiceClass"
		cases[name] = tc
	}
	return cases
}

func TestOfferingRules(t *testing.T) {
	t.Parallel()
	check(t, offeringRules())
}
