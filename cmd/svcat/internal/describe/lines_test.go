package describe

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/defaultplan/defaultplan/api/v1beta1"
)

// TestWriteConditions: a line each, Ready first, without a rule as long as the message.
func TestWriteConditions(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	long := strings.TrimSpace(strings.Repeat("why ", 100))
	require.NoError(t, writeConditions(&out, []v1beta1.Condition{v1beta1.Resolved("Instance", long), v1beta1.Ready("Done", "all is \x1b[31mwell")}))
	assert.Equal(t, "\nConditions:\n  Ready=True      Done: all is \ufffd[31mwell\n  Resolved=True   Instance: "+long+"\n", out.String())
}

// TestParametersAreHarmless: a value that a terminal would obey stays in its line.
func TestParametersAreHarmless(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	parameters := &runtime.RawExtension{Raw: []byte(`{"a": {"b": "x\u202ey"}, "c": "d  e"}`)}
	require.NoError(t, writeParameters(&out, parameters, nil, nil))
	assert.NotContains(t, out.String(), "\u202e")
	assert.Contains(t, out.String(), "  a:\n    b: ")
	assert.Contains(t, out.String(), "  c: d  e\n", "what is harmless is left as it is")
}

func TestChosenBy(t *testing.T) {
	t.Parallel()
	assert.Equal(t, "default of the cluster", chosenBy("cluster-default", "dev", "mysql"))
	assert.Equal(t, "suggested in namespace dev", chosenBy("namespace-suggested", "dev", "mysql"))
	assert.Equal(t, "not chosen, it came with its references", chosenBy("restored", "dev", "mysql"))
	assert.Empty(t, chosenBy("", "dev", "mysql"), "what is not decided was chosen by nothing")
}
