package webhook

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/defaultplan/defaultplan/webhook/options"
)

// What a broker would be sent at a bind is held against the plan's schema for bindings.
func TestBindingSchema(t *testing.T) {
	t.Parallel()
	checkBindings(t, bindingSchemaCases())
}

func bindingSchemaCases() map[string]bindingCase {
	const schema = `{"type":"object","properties":{"user":{"enum":["reader","admin"]},"ttl":{"type":"integer"}},"required":["user"],"additionalProperties":false}`
	strict := func(more ...func(at string) func(*stock)) func(at string) []func(*stock) {
		return func(at string) []func(*stock) {
			edits := []func(*stock){bindSchemaOf(at+"db-small", schema), createSchemaOf(at+"db-small", `{"required":["never"]}`), hasInstance("mydb", at+"db-small")}
			for _, edit := range more {
				edits = append(edits, edit(at))
			}
			return edits
		}
	}
	classGives := func(parameters string) func(at string) func(*stock) {
		return func(at string) func(*stock) { return bindDefaultsOf(at+"db", parameters) }
	}
	with := func(members string) string { return `{"instanceRef":{"name":"mydb"},` + members + `}` }
	off := func(check string) func(*env) { return func(w *env) { w.options.SchemaCheck = check } }
	nothing := func(string) []func(*stock) { return []func(*stock){} }
	const left = `no plan is decided yet: spec.parameters/user: is required; the binding waits`
	return map[string]bindingCase{
		"Fits":          {reason: "What fits is admitted.", edits: strict(), spec: with(`"parameters":{"user":"admin","ttl":1}`), plan: "db-small"},
		"Value":         {reason: "What does not is refused.", edits: strict(), spec: with(`"parameters":{"user":"` + canary + `","ttl":"` + canary + `"}`), denied: "SchemaViolation"},
		"Missing":       {reason: "So is what lacks something.", edits: strict(), spec: toMydb, denied: "SchemaViolation"},
		"GivenByClass":  {reason: "A default may be what is needed.", edits: strict(classGives(`{"user":"reader"}`)), spec: toMydb, plan: "db-small", want: `{"parameters":{"user":"reader"}}`, warnings: []string{"defaults set user"}},
		"OfADefault":    {reason: "Or what is wrong: then it is told whose it is.", edits: strict(classGives(`{"ttl":"` + canary + `"}`)), spec: with(`"parameters":{"user":"admin"}`), denied: "SchemaViolation"},
		"NullRemoves":   {reason: "What a null took away is not sent.", edits: strict(classGives(`{"ttl":"x"}`)), spec: with(`"parameters":{"user":"admin","ttl":null}`), plan: "db-small"},
		"NullIsSent":    {reason: "A null over nothing is.", edits: strict(), spec: with(`"parameters":{"user":"admin","ttl":null}`), denied: "SchemaViolation"},
		"Partial":       {reason: "With a Secret to come, what is missing may be in it.", edits: strict(), spec: with(`"parametersFrom":[{"secretKeyRef":{"name":"s","key":"k"}}]`), plan: "db-small"},
		"PartialValue":  {reason: "What is wrong stays wrong.", edits: strict(), spec: with(`"parameters":{"ttl":"` + canary + `"},"parametersFrom":[{"secretKeyRef":{"name":"s","key":"k"}}]`), denied: "SchemaViolation"},
		"Warn":          {reason: "It may only be warned about.", edits: strict(), adjust: off(options.SchemaWarn), spec: toMydb, plan: "db-small", warnings: []string{`spec.parameters/user: is required`}},
		"WarnOfDefault": {reason: "With whose it is.", edits: strict(classGives(`{"user":"reader","x":1}`)), adjust: off(options.SchemaWarn), spec: toMydb, plan: "db-small", want: `{"parameters":{"user":"reader","x":1}}`, warnings: []string{"defaults set user, x", `spec.parameters/x: is not a property that the schema allows (the value is the default of the class)`}},
		"Off":           {reason: "Or not looked at.", edits: strict(), adjust: off(options.SchemaOff), spec: toMydb, plan: "db-small"},
		"GateOff":       {reason: "The same by gate.", edits: strict(), adjust: func(w *env) { gatesOff(w, options.SchemaChecks) }, spec: toMydb, plan: "db-small"},
		"Unusable": {
			reason: "A schema that does not compile is told, and skipped.", spec: toMydb, plan: "db-small",
			edits: func(at string) []func(*stock) {
				return []func(*stock){bindSchemaOf(at+"db-small", `{"type":7}`), hasInstance("mydb", at+"db-small")}
			},
			warnings: []string{"parameters were not checked: the schema of plan db/small: cannot use the JSON schema: does not compile: \"/type\" must match at least one of the schema's alternatives"},
		},
		"Undecided":       {reason: "What waits is not judged.", edits: nothing, spec: with(`"parameters":{"user":"x"}`), warnings: []string{`no plan is decided yet: instance "mydb" does not exist yet; the binding waits`}},
		"Touched":         {reason: "At a touch it is left, not refused.", edits: nothing, spec: toMydb, later: strict(), write: `{}`, warnings: []string{left}},
		"TouchedByWriter": {reason: "Whose-ever touch.", edits: nothing, spec: toMydb, later: strict(), write: `{"metadata":{"labels":{"a":"b"}}}`, want: `{"metadata":{"labels":{"a":"b"}}}`, warnings: []string{left}},
		"Edited":          {reason: "An edit is refused.", edits: nothing, spec: toMydb, later: strict(), write: `{"spec":{"parameters":{"ttl":1}}}`, denied: "SchemaViolation"},
		"TouchedPartial": {
			reason: "With a Secret to come, a touch decides.", edits: nothing, spec: with(`"parametersFrom":[{"secretKeyRef":{"name":"s","key":"k"}}]`), later: strict(), write: `{}`,
			want: `{"metadata":{"annotations":{"servicecatalog.kubernetes.io/applied-defaults":"{\"rule\":\"instance\",\"class\":\"db\",\"plan\":\"small\"}"}},"spec":{` + bindRefs + `}}`,
		},
		"TouchedRestored": {
			reason: "What was bound before is not judged at a touch.", edits: nothing, spec: with(`"externalID":"e-1"`), later: strict(), write: `{}`,
			want:     `{"metadata":{"annotations":{"servicecatalog.kubernetes.io/applied-defaults":"{\"rule\":\"restored\",\"class\":\"db\",\"plan\":\"small\"}"}},"spec":{` + bindRefs + `}}`,
			warnings: []string{"taken as it is: plan db/small; no default was applied"},
		},
		"TouchedWarn": {
			reason: "Where it is only warned about, a touch decides.", edits: nothing, spec: toMydb, adjust: off(options.SchemaWarn), later: strict(), write: `{}`,
			want:     `{"metadata":{"annotations":{"servicecatalog.kubernetes.io/applied-defaults":"{\"rule\":\"instance\",\"class\":\"db\",\"plan\":\"small\"}"}},"spec":{` + bindRefs + `}}`,
			warnings: []string{`spec.parameters/user: is required`},
		},
		"NoObject":   {reason: "Parameters are an object.", spec: with(`"parameters":"` + canary + `"`), denied: "InvalidParameters"},
		"TooDeep":    {reason: "Of a bounded depth.", spec: with(`"parameters":` + strings.Repeat(`{"a":`, 70) + `"` + canary + `"` + strings.Repeat(`}`, 70)), denied: "InvalidParameters"},
		"Undecoded":  {reason: "Also while they wait.", edits: nothing, spec: with(`"parameters":["` + canary + `"]`), denied: "InvalidParameters"},
		"Source":     {reason: "Sources name keys.", spec: with(`"parametersFrom":[{},{"secretKeyRef":{"name":"s","key":"k"}},{"secretKeyRef":{"name":"s","key":"k"}}]`), denied: "InvalidSource"},
		"Unreadable": {reason: "And fields are of their types.", spec: with(`"secretTransforms":{"a":"` + canary + `"}`), denied: "Unreadable"},
		"Transforms": {
			reason: "More transforms than a binding may have are refused, with the way out.", spec: toMydb, denied: "InvalidTransforms",
			edits: func(at string) []func(*stock) {
				list := strings.Repeat(`,{"removeKey":{"key":"a"}}`, 256)[1:]
				return []func(*stock){transformsOf(at+"db", "["+list+"]"), transformsOf(at+"db-small", `[{"removeKey":{"key":"b"}}]`), hasInstance("mydb", at+"db-small")}
			},
		},
		"BrokenDefaults": {
			reason: "Defaults that cannot be read are not left out.", spec: toMydb, denied: "BrokenDefaults",
			edits: func(at string) []func(*stock) {
				return []func(*stock){bindDefaultsOf(at+"db", `["`+canary+`"]`), hasInstance("mydb", at+"db-small")}
			},
		},
	}
}

// The schema that is asked is the one for bindings, read once and kept by its digest.
func TestBindingSchemaIsCompiledOnce(t *testing.T) {
	t.Parallel()
	w := stocked(t, db, bindSchemaOf("db-small", countSchema), hasInstance("mydb", "db-small")).env()
	spec := `{"instanceRef":{"name":"mydb"},"parameters":{"count":1}}`
	w.bindTo(spec).admitted()
	assert.Contains(t, w.live.taken(), "get ClusterServicePlan /db-small", "the cache has only the digest")
	w.bindTo(spec).admitted()
	assert.NotContains(t, w.live.taken(), "get ClusterServicePlan /db-small")
	require.NotNil(t, w.bindTo(toMydb).denied())
}
