package removal

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
)

func TestConfirm(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		reason, said string
		flags        Flags
		dryRun       string
		asks         bool
		wrong        string
	}{
		"Yes":       {"it is meant", "y\n", Flags{Abandon: true}, "", true, ""},
		"YesAtAll":  {"a whole word", " YES \n", Flags{Abandon: true}, "", true, ""},
		"No":        {"it is not", "n\n", Flags{Abandon: true}, "", true, "not confirmed: nothing was changed"},
		"Nothing":   {"no answer is no yes", "", Flags{Abandon: true}, "", true, "not confirmed: nothing was changed"},
		"Flag":      {"--yes has said it", "n\n", Flags{Abandon: true, Yes: true}, "", false, ""},
		"DryRun":    {"nothing happens", "n\n", Flags{Abandon: true}, "server", false, ""},
		"NoFinally": {"nothing is abandoned", "n\n", Flags{}, "", false, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			streams, _, _, told := genericiooptions.NewTestIOStreams()
			streams.In = strings.NewReader(c.said)
			err := c.flags.Confirm(t.Context(), cli.NewEnv(streams), &cli.WriteFlags{DryRun: c.dryRun}, `instance "mydb"`)
			if c.wrong == "" {
				require.NoError(t, err, c.reason)
			} else {
				require.EqualError(t, err, c.wrong, c.reason)
			}
			assert.Equal(t, c.asks, strings.Contains(told.String(), "Are you sure?"), c.reason)
		})
	}
}
