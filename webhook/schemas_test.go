package webhook

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/defaultplan/defaultplan/webhook/options"
)

const countSchema = `{"type":"object","properties":{"count":{"type":"integer"}},"required":["count"]}`

func TestSchemasAreCompiledOnce(t *testing.T) {
	t.Parallel()
	w := stocked(t, "mysql/db: small large", createSchemaOf("db-small", countSchema), createSchemaOf("db-large", countSchema)).env()
	spec := func(plan string) string {
		return fmt.Sprintf(`{"clusterServiceClassName":"db","clusterServicePlanName":"db-%s","parameters":{"count":1}}`, plan)
	}
	w.created(spec("small"))
	assert.Equal(t, []string{"get ClusterServicePlan /db-small"}, w.live.taken(), "the cache has only the digest")
	w.created(spec("small"))
	w.created(spec("large"))
	assert.Empty(t, w.live.taken(), "one digest, one schema")
	assert.Equal(t, 1, w.shared.Schemas.Kept())
}

func TestSchemaOfPlanDeletedInBetween(t *testing.T) {
	t.Parallel()
	for _, plan := range []string{"db-small", "dev/db-small"} {
		catalog := db
		if strings.HasPrefix(plan, "dev/") {
			catalog = "dev|" + db
		}
		s := stocked(t, catalog, createSchemaOf(plan, countSchema))
		w := envOf(t, s, s)
		made := w.ask(MutateInstances, w.review(instanceOf(byType), nil))
		w.live.show(&stock{tb: t})
		judged := w.ask(ValidateInstances, w.review(made.patched, nil))
		assert.True(t, judged.Allowed, "the controller finds a plan that is gone, too")

		w.live.show(stocked(t, catalog))
		judged = w.ask(ValidateInstances, w.review(made.patched, nil))
		assert.True(t, judged.Allowed, "the schema is gone")

		w.live.show(s)
		judged = w.ask(ValidateInstances, w.review(made.patched, nil))
		assert.False(t, judged.Allowed)
	}
}

func TestSchemaChangedMeanwhile(t *testing.T) {
	t.Parallel()
	cached := stocked(t, db, createSchemaOf("db-small", countSchema))
	w := envOf(t, cached, stocked(t, db, createSchemaOf("db-small", `{"type":"object"}`)))
	w.created(byType)
}

// Which schema is asked, about what, and what comes of the answer.
func TestSchemaChecks(t *testing.T) {
	t.Parallel()
	updates := `{"type":"object","properties":{"count":{"type":"integer","maximum":5}}}`
	cases := map[string]struct {
		reason string
		schema string
		defs   string
		create string
		stored string // a merge patch by the controller
		write  string // a merge patch by the user
		adjust func(*env)
		denied string // the field
		warned string
	}{
		"Creation":            {reason: "Creation has a schema.", create: `{"count":"x"}`, denied: "spec.parameters/count"},
		"NoParameters":        {reason: "No parameters are judged as none.", create: `null`, denied: "spec.parameters/count"},
		"DefaultsCount":       {reason: "What a default gives is there.", defs: `{"count":3}`, create: `{}`},
		"NullTakesAway":       {reason: "What a null took away is not sent, and not judged.", defs: `{"count":3}`, create: `{"count":null}`, denied: "spec.parameters/count"},
		"NullIsNotSent":       {reason: "So a schema that allows no null does not see one.", schema: `{"properties":{"count":{"type":"integer"}}}`, defs: `{"count":3}`, create: `{"count":null}`},
		"NullOverNothing":     {reason: "A null over nothing is sent.", schema: `{"properties":{"count":{"type":"integer"}}}`, create: `{"count":null}`, denied: "spec.parameters/count"},
		"Untouched":           {reason: "A write that leaves parameters and plan is not judged.", create: `{"count":1}`, stored: `{"spec":{"parameters":{"count":"was always wrong"}}}`, write: `{"spec":{"updateRequests":1}}`},
		"ChangedBefore":       {reason: "Until it is provisioned, the schema of creation counts.", create: `{"count":1}`, write: `{"spec":{"parameters":{"count":9}}}`},
		"ChangedAfter":        {reason: "Then that of updates.", create: `{"count":1}`, stored: provisioned, write: `{"spec":{"parameters":{"count":9}}}`, denied: "spec.parameters/count"},
		"DroppedAfter":        {reason: "Which requires nothing.", create: `{"count":1}`, stored: provisioned, write: `{"spec":{"parameters":{"count":null}}}`},
		"Terminating":         {reason: "What is going is not judged.", create: `{"count":1}`, stored: `{"metadata":{"deletionTimestamp":"2026-05-01T12:00:00Z"}}`, write: `{"spec":{"parameters":{"count":"x"}}}`},
		"Warn":                {reason: "It can be told instead.", create: `{"count":"x"}`, adjust: func(w *env) { w.options.SchemaCheck = options.SchemaWarn }, warned: "spec.parameters/count: must be of type integer"},
		"Off":                 {reason: "Or not looked at.", create: `{"count":"x"}`, adjust: func(w *env) { w.options.SchemaCheck = options.SchemaOff }},
		"GateOff":             {reason: "Or switched off by gate.", create: `{"count":"x"}`, adjust: func(w *env) { gatesOff(w, options.SchemaChecks) }},
		"DoesNotCompile":      {reason: "A schema that is none is the plan's fault: warned and skipped.", schema: `{"type":"nothing"}`, create: `{"count":"x"}`, warned: "does not compile"},
		"NotJSONSchemaAtAll":  {reason: "Even one that is no object.", schema: `"` + canary[:3] + `"`, create: `{}`, warned: "were not checked"},
		"BadPattern":          {reason: "Or with a pattern that is none.", schema: `{"properties":{"a":{"pattern":"("}}}`, create: `{}`, warned: "does not compile"},
		"TooLarge":            {reason: "Or too large.", schema: `{"description":"` + strings.Repeat("x", 65<<10) + `"}`, create: `{}`, warned: "too large"},
		"NullSchema":          {reason: "Null is none.", schema: `null`, create: `{"count":"x"}`},
		"PartialRequired":     {reason: "A Secret may give the rest.", create: `{},"parametersFrom":[{"secretKeyRef":{"name":"s","key":"k"}}]`},
		"PartialStillChecked": {reason: "What is there is judged all the same.", create: `{"count":"x"},"parametersFrom":[{"secretKeyRef":{"name":"s","key":"k"}}]`, denied: "spec.parameters/count"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			edits := []func(*stock){createSchemaOf("db-small", countSchema), updateSchemaOf("db-small", updates)}
			if tc.schema != "" {
				edits = []func(*stock){createSchemaOf("db-small", tc.schema)}
			}
			if tc.defs != "" {
				edits = append(edits, planDefaults("db-small", tc.defs))
			}
			w := stocked(t, db, edits...).env()
			if tc.adjust != nil {
				tc.adjust(w)
			}
			o := w.create(fmt.Sprintf(`{"serviceType":"mysql","parameters":%s}`, tc.create))
			if tc.write != "" {
				stored := changed(t, o.admitted(), tc.stored)
				o = w.write(changed(t, stored, tc.write), stored)
			}
			if tc.denied != "" {
				require.NotNil(t, o.denied(), tc.reason)
				assert.Equal(t, tc.denied, o.denied().Details.Causes[0].Field, tc.reason)
				return
			}
			o.admitted()
			assert.Contains(t, strings.Join(o.warnings(), "\n"), tc.warned, tc.reason)
		})
	}
}

// A reference out of the document is never followed: not to a file, not to a server.
func TestSchemaReferencesAreNotFollowed(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "strict.json")
	require.NoError(t, os.WriteFile(file, []byte(`{"type":"string"}`), 0o600))
	var connections atomic.Int64
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(`{"type":"string"}`)) }))
	server.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			connections.Add(1)
		}
	}
	server.Start()
	for _, schema := range []string{
		`{"properties":{"a":{"$ref":"file://` + file + `"}}}`,
		`{"properties":{"a":{"$ref":"` + server.URL + `/strict.json"}}}`,
		`{"$schema":"` + server.URL + `/meta.json","properties":{"a":{"type":"string"}}}`,
		`{"id":"file://` + filepath.Dir(file) + `/","properties":{"a":{"$ref":"strict.json"}}}`,
		`{"id":"` + server.URL + `/","properties":{"a":{"$ref":"strict.json#/x"}}}`,
	} {
		w := stocked(t, db, createSchemaOf("db-small", schema)).env()
		o := w.create(`{"serviceType":"mysql","parameters":{"a":1}}`)
		o.admitted()
		assert.Contains(t, strings.Join(o.warnings(), "\n"), "references outside the document", schema)
	}
	// Close waits for what is under way.
	server.Close()
	assert.Zero(t, connections.Load(), "no server was called")
}

// A small schema cannot cost much: chains of alternatives are bounded before they are tried.
func TestSchemaIsBounded(t *testing.T) {
	t.Parallel()
	var chain strings.Builder
	chain.WriteString(`{"definitions":{`)
	for i := range 28 {
		fmt.Fprintf(&chain, `"d%d":{"anyOf":[{"$ref":"#/definitions/d%d"},{"$ref":"#/definitions/d%d"}]},`, i, i+1, i+1)
	}
	chain.WriteString(`"d28":{"type":"string"}},"$ref":"#/definitions/d0"}`)
	w := stocked(t, db, createSchemaOf("db-small", chain.String())).env()
	o := w.create(`{"serviceType":"mysql","parameters":{"a":1}}`)
	o.admitted()
	assert.Contains(t, strings.Join(o.warnings(), "\n"), "over budget")
}
