package doctor

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
)

// looks answers one round after the other, and the last one for ever.
func looks(rounds ...[]finding) (look func(context.Context) []finding, asked *int) {
	asked = new(0)
	return func(context.Context) []finding {
		*asked++
		return rounds[min(*asked, len(rounds))-1]
	}, asked
}

func TestRun(t *testing.T) {
	t.Parallel()
	whole := []finding{okf("hooks", "there"), warningf("types", "choose", "redis has none")}
	broken := []finding{failedf("hooks", "install them", "missing"), okf("types", "fine")}
	worse := []finding{failedf("hooks", "install them", "missing"), failedf("brokers", "", "off\nfor long")}
	cases := map[string]struct {
		reason    string
		options   options
		rounds    [][]finding
		asked     int
		code      int
		err       string
		out, told string
	}{
		"Whole": {
			reason: "warnings do not fail", rounds: [][]finding{whole}, asked: 1,
			out: "ok       hooks         there\nwarning  types         redis has none\n                       → choose\nthe installation is whole, 1 warning\n",
		},
		"Unseen": {
			reason: "what was not looked at may be broken", rounds: [][]finding{{okf("hooks", "there"), unknownf("keeper", "", "not looked at")}}, asked: 1,
			out: "ok       hooks         there\nunknown  keeper        not looked at\nas far as it was looked at, the installation is whole, 1 not looked at\n",
		},
		"Limited": {
			reason: "so may what is elsewhere", rounds: [][]finding{{{Check: "brokers", Level: levelOK, Message: "there is none", Partly: true}}}, asked: 1,
			out: "ok       brokers       there is none\nas far as it was looked at, the installation is whole\n",
		},
		"Unproven": {
			reason: "without these nothing is known", rounds: [][]finding{{unknownf("definitions", "", "not looked at"), unknownf("admission", "", "not tried"), unknownf("keeper", "", "not looked at")}}, asked: 1, code: 1,
			err: "it is not known whether the installation is whole: not looked at: definitions, admission",
			out: "unknown  definitions   not looked at\nunknown  admission     not tried\nunknown  keeper        not looked at\n",
		},
		"Broken": {
			reason: "one that failed is enough", rounds: [][]finding{broken, whole}, asked: 1, code: 1,
			err: "the installation is not whole: 1 failed",
			out: "failed   hooks         missing\n                       → install them\nok       types         fine\n",
		},
		"JSON": {
			reason: "a program reads only JSON", options: options{output: "json"}, rounds: [][]finding{broken}, asked: 1, code: 1,
			err: "the installation is not whole: 1 failed",
			out: "{\n  \"whole\": false,\n  \"findings\": [\n    {\n      \"check\": \"hooks\",\n      \"level\": \"failed\",\n      \"message\": \"missing\",\n      \"do\": \"install them\"\n    },\n" +
				"    {\n      \"check\": \"types\",\n      \"level\": \"ok\",\n      \"message\": \"fine\"\n    }\n  ]\n}\n",
		},
		"Wait": {
			reason: "it says what for, and only as that changes", options: options{wait: true}, rounds: [][]finding{worse, worse, broken, broken, whole}, asked: 5,
			told: "waiting for hooks: missing\nwaiting for brokers: off\nwaiting for hooks: missing\n",
			out:  "ok       hooks         there\nwarning  types         redis has none\n                       → choose\nthe installation is whole, 1 warning\n",
		},
		"TimedOut": {
			reason: "with an exit code of its own, and what was found last", options: options{wait: true, timeout: time.Nanosecond}, rounds: [][]finding{broken}, asked: 1, code: cli.ExitTimeout,
			err:  "the installation is not whole: 1 failed after 1ns",
			told: "waiting for hooks: missing\n",
			out:  "failed   hooks         missing\n                       → install them\nok       types         fine\n",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			streams, _, out, errs := genericiooptions.NewTestIOStreams()
			look, asked := looks(tc.rounds...)
			tc.options.interval = time.Microsecond
			err := tc.options.run(t.Context(), cli.NewEnv(streams), look)
			assert.Equal(t, tc.code, cli.ExitCode(err), tc.reason)
			if tc.err != "" {
				require.EqualError(t, err, tc.err, tc.reason)
			}
			assert.Equal(t, tc.asked, *asked, tc.reason)
			assert.Equal(t, tc.out, out.String(), tc.reason)
			assert.Equal(t, tc.told, errs.String(), tc.reason)
		})
	}
}

// TestRunInterrupted: nothing was written, and that is said; what was found by half is
// not.
func TestRunInterrupted(t *testing.T) {
	t.Parallel()
	streams, _, out, _ := genericiooptions.NewTestIOStreams()
	ctx, cancel := context.WithCancel(t.Context())
	o := options{wait: true, interval: time.Hour}
	err := o.run(ctx, cli.NewEnv(streams), func(context.Context) []finding {
		cancel()
		return []finding{failedf("hooks", "", "context canceled")}
	})
	require.EqualError(t, err, "interrupted; nothing was written")
	assert.Equal(t, cli.ExitInterrupted, cli.ExitCode(err))
	assert.Empty(t, out.String())
}

// TestRoundCutShort: the report of a wait that ran out is that of the last round that
// there was time for.
func TestRoundCutShort(t *testing.T) {
	t.Parallel()
	streams, _, out, _ := genericiooptions.NewTestIOStreams()
	o := options{wait: true, timeout: 20 * time.Millisecond, interval: time.Microsecond}
	first := true
	err := o.run(t.Context(), cli.NewEnv(streams), func(ctx context.Context) []finding {
		if first {
			first = false
			return []finding{failedf("hooks", "", "missing")}
		}
		<-ctx.Done()
		return []finding{failedf("cluster", "", "context deadline exceeded")}
	})
	assert.Equal(t, cli.ExitTimeout, cli.ExitCode(err))
	assert.Equal(t, "failed   hooks         missing\n", out.String())
}

func TestValidate(t *testing.T) {
	t.Parallel()
	good := options{output: "json", rawTimeout: "-1", rawInterval: "1s"}
	require.NoError(t, good.validate())
	assert.Zero(t, good.timeout, "for ever")
	for want, o := range map[string]options{
		`--output is "yaml"; allowed are table and json`:                               {output: "yaml", rawTimeout: "1s", rawInterval: "1s"},
		`--interval is "0s"; allowed are times such as 1s and 1m`:                      {rawTimeout: "1s", rawInterval: "0s"},
		`--timeout is "0s"; allowed are times such as 30s, 1m and 1h, and -1 for ever`: {rawTimeout: "0s", rawInterval: "1s"},
	} {
		err := o.validate()
		require.EqualError(t, err, want)
		assert.Equal(t, cli.ExitUsage, cli.ExitCode(err))
	}
}
