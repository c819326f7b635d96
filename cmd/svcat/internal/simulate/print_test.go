package simulate

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"

	"github.com/defaultplan/defaultplan/cmd/svcat/internal/simulation"
)

var update = flag.Bool("update", false, "write the golden files again")

// sample is a report with something in every part, as a hostile broker would name it, too.
func sample() *simulation.Report {
	monthly := func(amount string) []simulation.Cost {
		return []simulation.Cost{{Currency: "usd", Unit: "MONTHLY", Amount: amount}}
	}
	return &simulation.Report{
		Changed: []simulation.Object{
			{Kind: "ClusterServicePlan", Name: "small"}, {Kind: "ServicePlan", Namespace: "dev", Name: "a|b"}, {Kind: "ClusterServicePlan", Name: "large"},
			{Kind: "ClusterServicePlan", Name: "x1"}, {Kind: "ClusterServicePlan", Name: "x2"},
		},
		Types: []simulation.Type{
			{
				Type: "mysql", Namespace: "dev", Now: simulation.Resolution{Class: "azure-mysql", Plan: "small", Rule: "cluster-default", Costs: monthly("99.95")},
				Then: simulation.Resolution{Class: "azure-mysql", Plan: "l|a`rge\x1b[2J", Rule: "cluster-default", Costs: monthly("200")},
			},
			{Type: "redis", Namespace: "dev", Now: simulation.Resolution{Refusal: "no plan has it\nask the operator"}, Then: simulation.Resolution{Waits: true}},
			{Type: "redis", Namespace: "prod", Now: simulation.Resolution{Refusal: "no plan has it\nask the operator"}, Then: simulation.Resolution{Waits: true}},
		},
		Instances: []simulation.Effect{
			{Namespace: "dev", Name: "db", What: simulation.EditRefused, Message: "plan azure-mysql/small may not be used here\n@everyone [x](https://evil.example.com)"},
			{Namespace: "dev", Name: "queue", What: simulation.WouldBeDecided, Then: "rabbit/tiny"},
		},
		Bindings: []simulation.Effect{{Namespace: "dev", Name: "db", What: simulation.PlanGone, Now: "azure-mysql/small"}},
		Limits: []simulation.Limit{
			{Policy: "few", Namespace: "dev", Kind: "instances", Now: simulation.Usage{Used: 3, Granted: 3, Limit: new(int32(5))}, Then: simulation.Usage{Used: 3, Granted: 2, Limit: new(int32(2))}},
		},
		Refusals: []simulation.Refusal{
			{Kind: "ServiceInstance", Namespace: "dev", Name: "db", Message: "first line\n```\n# second line\x1b[31m"},
			{Kind: "Catalog", Name: "azure", Change: true, Message: "it is refused"},
		},
		Costs: simulation.Costs{
			Now: simulation.Sum{Costs: monthly("300"), Unknown: 2}, Then: simulation.Sum{Costs: monthly("250.5")},
			Namespaces: []simulation.NamespaceCost{{Namespace: "dev", Now: simulation.Sum{Costs: monthly("99.95")}, Then: simulation.Sum{Unknown: 1}}},
		},
		Notes:    []string{"service broken of broker azure is skipped"},
		NotKnown: []string{"what the broker <script>would answer</script>", "the values of parameters"},
	}
}

// TestOutputs: each as in its golden file, also of what a broker made up.
func TestOutputs(t *testing.T) {
	t.Parallel()
	for name, report := range map[string]*simulation.Report{"report": sample(), "nothing": {NotKnown: []string{"Secrets"}}} {
		for _, output := range outputs {
			text := &strings.Builder{}
			require.NoError(t, printers[output](text, report))
			file := filepath.Join("testdata", name+"."+output)
			if *update {
				require.NoError(t, os.WriteFile(file, []byte(text.String()), 0o600))
			}
			want, err := os.ReadFile(file)
			require.NoError(t, err, "run the test with -update")
			assert.Equal(t, string(want), text.String(), "%s: run the test with -update if this is meant", file)
		}
	}
}

// TestProgramsReadWhatIsPrinted: json and yaml are the report itself.
func TestProgramsReadWhatIsPrinted(t *testing.T) {
	t.Parallel()
	for output, read := range map[string]func([]byte, any) error{"json": json.Unmarshal, "yaml": func(text []byte, into any) error { return yaml.Unmarshal(text, into) }} {
		text := &strings.Builder{}
		require.NoError(t, printers[output](text, sample()))
		again := &simulation.Report{}
		require.NoError(t, read([]byte(text.String()), again))
		assert.Equal(t, sample(), again, output)
	}
}

// TestNothingSteersATerminal: tables and pages have no character that a terminal obeys.
func TestNothingSteersATerminal(t *testing.T) {
	t.Parallel()
	for _, output := range []string{outputTable, "markdown"} {
		report, text := sample(), &strings.Builder{}
		report.Refusals[1].Name, report.Notes[0], report.NotKnown[0] = "a\x1b[2J", "b\x1b[2J", "c\x1b[2J"
		require.NoError(t, printers[output](text, report))
		assert.NotContains(t, text.String(), "\x1b", output)
	}
}

// TestAPageFitsIntoAComment: however much changes; what is left out is counted, and what is not
// known comes last.
func TestAPageFitsIntoAComment(t *testing.T) {
	t.Parallel()
	report := sample()
	for i := range 5000 {
		report.Types = append(report.Types, report.Types[0])
		report.Types[len(report.Types)-1].Type = fmt.Sprintf("type-%d", i)
		report.Instances = append(report.Instances, report.Instances[0])
		report.Refusals = append(report.Refusals, simulation.Refusal{Kind: "ServiceInstance", Name: strings.Repeat("é", 300), Message: strings.Repeat("line ö\n", 10_000)})
		report.NotKnown = append(report.NotKnown, strings.Repeat("x", 400))
	}
	text := page(report)
	assert.LessOrEqual(t, len(text), 65_536)
	assert.True(t, utf8.ValidString(text))
	assert.Equal(t, 4, strings.Count(text, "\n… and "))
	assert.Regexp(t, `\n… and \d+ more\n$`, text)
	assert.Contains(t, text, "5002 types")
	assert.Contains(t, text, "#### Limits", "a long part leaves room for the others")
	exact := block{"head\n", []string{"one\n", strings.Repeat("x", 100)}}
	assert.Equal(t, "head\none\n"+exact.items[1], exact.within(109), "the last one needs no room for a count")
	assert.Equal(t, "head\none\n\n… and 1 more\n", exact.within(108))
}

// TestCodeIsNoMarkup: a text as code ends where it should.
func TestCodeIsNoMarkup(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"": "", "a": "`a`", "a`b": "``a`b``", "``": "``` `` ```", "`a": "`` `a ``", "a\nb": "`a b`",
	} {
		assert.Equal(t, want, code(text), text)
	}
	assert.Equal(t, "| `a¦b` | |\n", tableRow([]string{"a|b", ""}))
	assert.Equal(t, "````text\n```\n````\n", fenced("```"))
}

// TestNamespacesAreCounted: a type that means the same in many namespaces is one row.
func TestNamespacesAreCounted(t *testing.T) {
	t.Parallel()
	var of []simulation.Type
	for _, namespace := range []string{"a", "b", "c", "d", "e"} {
		of = append(of, simulation.Type{Type: "mysql", Namespace: namespace, Now: simulation.Resolution{Class: "x", Plan: "y"}, Then: simulation.Resolution{Waits: true}})
	}
	of = append(of, simulation.Type{Type: "mysql", Namespace: "f", Then: simulation.Resolution{Waits: true}})
	assert.Equal(t, [][]string{
		{"mysql", "a, b, c and 2 more", "x/y", "-", "waits", "-"},
		{"mysql", "f", "refused: ", "-", "waits", "-"},
	}, types(of))
}

// TestFailingOutput: what cannot be written is an error.
func TestFailingOutput(t *testing.T) {
	t.Parallel()
	for _, output := range outputs {
		require.ErrorIs(t, printers[output](broken{}, sample()), errBroken, output)
	}
}

var errBroken = errors.New("it is closed")

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, errBroken }

// TestSentencesAreWhole: what is not known is not cut as a cell of a table is, and is bounded.
func TestSentencesAreWhole(t *testing.T) {
	t.Parallel()
	sentence := strings.Repeat("not known ", 40) + "end"
	assert.Contains(t, page(&simulation.Report{NotKnown: []string{sentence}}), "- `"+sentence+"`\n")
	assert.Less(t, len(page(&simulation.Report{NotKnown: []string{strings.Repeat("x", 1<<20)}})), 3000)
}
