package monitoring_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"
)

// dashboardSchema is made from the types that Grafana publishes: make dashboard-schema.
const dashboardSchema = "testdata/dashboard.schema.json"

// A dashboard is what the schema cannot judge of one.
type dashboard struct {
	UID, Title string
	Templating struct {
		List []struct{ Name, Type string }
	}
	Panels []panel
}

type panel struct {
	ID                       int
	Type, Title, Description string
	GridPos                  struct{ X, Y, W, H int }
	FieldConfig              struct {
		Defaults struct {
			Unit       string
			NoValue    string
			Mappings   []any
			Thresholds struct{ Steps []struct{ Color string } }
		}
		Overrides []struct{ Properties []struct{ ID string } }
	}
	Transformations []struct {
		ID      string
		Options struct{ ExcludeByName map[string]bool }
	}
	Targets []struct {
		RefID, Expr string
		Datasource  struct{ UID string }
	}
}

func readDashboard(t *testing.T) dashboard {
	t.Helper()
	var d dashboard
	require.NoError(t, json.Unmarshal([]byte(read(t, "dashboard.json")), &d))
	return d
}

// validate judges a dashboard by the schema.
func validate(t *testing.T, text string) error {
	t.Helper()
	schema, err := jsonschema.UnmarshalJSON(strings.NewReader(read(t, dashboardSchema)))
	require.NoError(t, err)
	compiler := jsonschema.NewCompiler()
	require.NoError(t, compiler.AddResource(dashboardSchema, schema))
	compiled, err := compiler.Compile(dashboardSchema)
	require.NoError(t, err)
	value, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
	require.NoError(t, err)
	return compiled.Validate(value)
}

// The dashboard is one by Grafana's own types.
func TestDashboardBySchema(t *testing.T) {
	t.Parallel()
	require.NoError(t, validate(t, read(t, "dashboard.json")))
}

// What Grafana would not understand, or silently ignore, is refused.
func TestSchemaRefuses(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ old, changed string }{
		"UnknownField":  {`"colorMode"`, `"colourMode"`},
		"UnknownValue":  {`"colorMode": "background"`, `"colorMode": "backdrop"`},
		"UnknownKind":   {`"type": "timeseries"`, `"type": "graph"`},
		"WrongType":     {`"unit": "none"`, `"unit": 1`},
		"NoPosition":    {`"w": 4, `, ``},
		"OtherKind":     {`"type": "stat"`, `"type": "table"`},
		"QueryOfOthers": {`"expr"`, `"rawSql"`},
		"Mapping":       {`"type": "range"`, `"type": "interval"`},
		"Variable":      {`"type": "query"`, `"type": "choice"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text := read(t, "dashboard.json")
			changed := strings.Replace(text, tc.old, tc.changed, 1)
			require.NotEqual(t, text, changed)
			assert.Error(t, validate(t, changed))
		})
	}
}

// The schema is of the release that is pinned.
func TestSchemaIsOfThePinnedRelease(t *testing.T) {
	t.Parallel()
	var pinned struct{ DevDependencies map[string]string }
	require.NoError(t, json.Unmarshal([]byte(read(t, "../../tools/dashboard/schema/package.json")), &pinned))
	var schema struct {
		ID string `json:"$id"`
	}
	require.NoError(t, json.Unmarshal([]byte(read(t, dashboardSchema)), &schema))
	assert.Equal(t, "@grafana/schema@"+pinned.DevDependencies["@grafana/schema"], schema.ID, "run: make dashboard-schema")
}

// Panels lie beside each other, and their queries go to the data source that is chosen.
func TestDashboard(t *testing.T) {
	t.Parallel()
	d := readDashboard(t)
	assert.Equal(t, "defaultplan", d.UID)
	var variables []string
	for _, variable := range d.Templating.List {
		variables = append(variables, variable.Type+" "+variable.Name)
	}
	assert.Equal(t, []string{"datasource datasource", "query cluster", "query namespace", "query broker"}, variables)
	ids, cells := map[int]bool{}, map[[2]int]string{}
	var queries []string
	for _, p := range d.Panels {
		assert.False(t, ids[p.ID], "id %d twice", p.ID)
		ids[p.ID] = true
		assert.LessOrEqual(t, p.GridPos.X+p.GridPos.W, 24, p.Title)
		for x := p.GridPos.X; x < p.GridPos.X+p.GridPos.W; x++ {
			for y := p.GridPos.Y; y < p.GridPos.Y+p.GridPos.H; y++ {
				assert.Empty(t, cells[[2]int{x, y}], "%s lies on another", p.Title)
				cells[[2]int{x, y}] = p.Title
			}
		}
		refs := map[string]bool{}
		for _, target := range p.Targets {
			assert.False(t, refs[target.RefID], p.Title)
			refs[target.RefID] = true
			assert.Equal(t, "${datasource}", target.Datasource.UID, p.Title)
			assert.Contains(t, target.Expr, `cluster=~"$cluster"`, p.Title)
			if !strings.Contains(target.Expr, "apiserver_") {
				assert.Contains(t, target.Expr, `namespace=~"$namespace"`, p.Title)
			}
			queries = append(queries, target.Expr)
		}
	}
	assertParse(t, queries)
}

// On top are six lights that say in a word whether all is well; below them are decisions, then
// brokers, then hooks.
func TestDashboardBeginsWithLights(t *testing.T) {
	t.Parallel()
	d := readDashboard(t)
	var rows []string
	for i, p := range d.Panels {
		if p.Type == "row" {
			rows = append(rows, p.Title)
		}
		if i >= 6 {
			continue
		}
		assert.Equal(t, "stat", p.Type, p.Title)
		assert.Equal(t, 0, p.GridPos.Y, p.Title)
		assert.NotEmpty(t, p.FieldConfig.Defaults.Mappings, p.Title)
		colors := map[string]bool{}
		for _, step := range p.FieldConfig.Defaults.Thresholds.Steps {
			colors[step.Color] = true
		}
		assert.True(t, colors["red"] && colors["green"], p.Title)
	}
	assert.Equal(t, "row", d.Panels[6].Type)
	assert.Equal(t, []string{"Decisions by rule", "Brokers", "Hooks"}, rows)
}

// A panel says what it shows, in one unit; a table has no columns that say nothing.
func TestPanelsAreReadable(t *testing.T) {
	t.Parallel()
	for _, p := range readDashboard(t).Panels {
		if p.Type == "row" {
			continue
		}
		assert.NotEmpty(t, p.Description, p.Title)
		assert.NotEmpty(t, p.Targets, p.Title)
		assert.NotEmpty(t, p.FieldConfig.Defaults.Unit, p.Title)
		for _, override := range p.FieldConfig.Overrides {
			for _, property := range override.Properties {
				assert.NotEqual(t, "unit", property.ID, p.Title)
			}
		}
		if p.Type == "stat" {
			assert.Greater(t, len(p.FieldConfig.Defaults.Thresholds.Steps), 1, p.Title)
		}
		if p.Type == "table" {
			require.Len(t, p.Transformations, 1, p.Title)
			assert.Equal(t, "organize", p.Transformations[0].ID, p.Title)
			assert.Equal(t, map[string]bool{"Time": true, "Value": true}, p.Transformations[0].Options.ExcludeByName, p.Title)
		}
	}
}

// The alerts that panels name exist.
func TestPanelsNameAlerts(t *testing.T) {
	t.Parallel()
	alerts := map[string]bool{}
	for _, group := range parseRules(t).Groups {
		for _, rule := range group.Rules {
			alerts[rule.Alert] = true
		}
	}
	named := 0
	for _, p := range readDashboard(t).Panels {
		for _, name := range alertName.FindAllString(p.Description, -1) {
			named++
			assert.True(t, alerts[name], "%s: there is no alert %s", p.Title, name)
		}
	}
	assert.NotZero(t, named)
}

// assertParse has promtool read queries: as rules', once Grafana's variables have a
// value.
func assertParse(t *testing.T, queries []string) {
	t.Helper()
	values := strings.NewReplacer("$__rate_interval", "5m", "$cluster", ".*", "$namespace", ".*", "$broker", ".*")
	var recorded []any
	for i, query := range queries {
		recorded = append(recorded, map[string]any{"record": fmt.Sprintf("panel:%d", i), "expr": values.Replace(query)})
	}
	text, err := yaml.Marshal(map[string]any{"groups": []any{map[string]any{"name": "panels", "rules": recorded}}})
	require.NoError(t, err)
	file := filepath.Join(t.TempDir(), "rules.yaml")
	require.NoError(t, os.WriteFile(file, text, 0o600))
	out, err := promtool(t, "check", "rules", file)
	assert.NoError(t, err, "%s", out)
}
