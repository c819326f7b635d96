package stack

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestOptionsSayWhatIsMissing(t *testing.T) {
	t.Parallel()
	bin := t.TempDir()
	for _, name := range []string{"controlplane", "kubectl"} {
		require.NoError(t, os.WriteFile(filepath.Join(bin, name), nil, 0o700))
	}
	cases := map[string]struct {
		reason  string
		options Options
		want    string
	}{
		"NoDir":         {reason: "nothing is written anywhere by accident", options: Options{Bin: bin}, want: "Dir and Bin are required"},
		"Negative":      {reason: "a number of processes", options: Options{Dir: "d", Bin: bin, Webhooks: -1}, want: "allowed is 0 or more"},
		"DetachedTwo":   {reason: "the balancer would end with us", options: Options{Dir: "d", Bin: bin, Webhooks: 2, Detached: true}, want: "at most one webhook"},
		"NoWebhook":     {reason: "it says how to get it", options: Options{Dir: "d", Bin: bin, Webhooks: 1}, want: "run `make build`"},
		"WithoutIsFine": {reason: "no webhook is needed for none", options: Options{Dir: "d", Bin: bin}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := tc.options.validate()
			if tc.want == "" {
				require.NoError(t, err, tc.reason)
				assert.True(t, filepath.IsAbs(tc.options.Dir))
				return
			}
			require.ErrorContains(t, err, tc.want, tc.reason)
		})
	}
}
