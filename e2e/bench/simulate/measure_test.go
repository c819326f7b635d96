package simulate

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/defaultplan/defaultplan/e2e/bench/measure"
)

// A testRun is what one run of a svcat uses, and how it ends.
type testRun struct {
	// Each is the processor time in user, and in kernel.
	Each time.Duration
	// Megabytes are given back before it ends.
	Megabytes int
	Report    string
	Problem   string
	Code      int
}

// asSvcat is the variable by which the binary of these tests is a svcat: it has the runs as JSON.
const asSvcat = "DEFAULTPLAN_TEST_SVCAT"

func TestMain(m *testing.M) {
	if text, is := os.LookupEnv(asSvcat); is {
		os.Exit(runAsSvcat(text))
	}
	os.Exit(m.Run())
}

// runAsSvcat is the next of the runs. It notes beside the snapshot what it used.
func runAsSvcat(text string) int {
	var runs []testRun
	must(json.Unmarshal([]byte(text), &runs))
	dir := filepath.Dir(os.Args[slices.Index(os.Args, "--snapshot")+1])
	before, err := filepath.Glob(filepath.Join(dir, "run-*"))
	must(err)
	one := runs[len(before)]
	burn(one.Each, slices.Repeat([]byte{1}, one.Megabytes*1e6))
	debug.FreeOSMemory()
	<-time.After(300 * time.Millisecond) // which is no processor time
	fmt.Fprint(os.Stdout, one.Report)
	fmt.Fprint(os.Stderr, one.Problem)
	peak, err := measure.Memory(os.Getpid(), measure.ResidentPeak)
	must(err)
	user, system := times()
	note := fmt.Sprint((user + system).Seconds(), " ", peak)
	must(os.WriteFile(filepath.Join(dir, fmt.Sprintf("run-%d", len(before))), []byte(note), 0o600))
	return one.Code
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

// times are the processor time that this process has used, in user and in kernel.
func times() (user, system time.Duration) {
	var used syscall.Rusage
	must(syscall.Getrusage(syscall.RUSAGE_SELF, &used))
	return time.Duration(used.Utime.Nano()), time.Duration(used.Stime.Nano())
}

// burn goes on until the process has used so much processor time in user, and in kernel. It holds
// memory meanwhile.
func burn(each time.Duration, held []byte) {
	zeros, err := os.Open("/dev/zero")
	must(err)
	buffer := make([]byte, 1<<20)
	for user, system := times(); user < each || system < each; user, system = times() {
		if system < each {
			_, err := io.ReadFull(zeros, buffer)
			must(err)
		}
		for i := 0; user < each && i < len(buffer); i++ {
			buffer[i] += byte(i)
		}
	}
	must(zeros.Close())
	runtime.KeepAlive(held)
}

// measured measures runs of this binary, and says what each used by its own account.
func measured(t *testing.T, runs ...testRun) (rows []measure.Row, seconds, peaks []float64, err error) {
	t.Helper()
	binary, err := os.Executable()
	require.NoError(t, err)
	text, err := json.Marshal(runs)
	require.NoError(t, err)
	t.Setenv(asSvcat, string(text))
	dir := t.TempDir()
	rows, err = Measure(t.Context(), binary, dir, Size{Services: 2, PlansEach: 3, Changed: 1, Runs: len(runs)})
	notes, globbed := filepath.Glob(filepath.Join(dir, "run-*"))
	require.NoError(t, globbed)
	for _, note := range notes {
		text, err := os.ReadFile(note)
		require.NoError(t, err)
		var used use
		_, err = fmt.Sscan(string(text), &used.seconds, &used.peak)
		require.NoError(t, err)
		seconds, peaks = append(seconds, used.seconds), append(peaks, used.peak)
	}
	return rows, seconds, peaks, err
}

const changes = `{"types":[{}],
"costs":{"now":{},"then":{"costs":[]}}}
`

// The time is the median of the runs, in user and kernel, and the memory the most that any of them
// had at any moment.
func TestMeasure(t *testing.T) { //nolint:paralleltest // the environment is the process's
	rows, seconds, peaks, err := measured(t,
		testRun{Each: 400 * time.Millisecond, Report: changes, Code: 1}, testRun{Each: 800 * time.Millisecond, Megabytes: 200, Report: changes, Code: 2},
		testRun{Each: 100 * time.Millisecond, Report: changes})
	require.NoError(t, err)
	require.Len(t, rows, 2)
	require.Len(t, seconds, 3)
	// On a busy machine each run may use more than it is to, and some more after its note.
	median := slices.Sorted(slices.Values(seconds))[1]
	assert.GreaterOrEqual(t, median, 0.8)
	assert.InDelta(t, median, rows[0].Value, 0.25, "%v", seconds)
	assert.Greater(t, peaks[1], 200.0)
	assert.InDelta(t, peaks[1], rows[1].Value, 10, "%v", peaks)
	assert.Equal(t, "svcat simulate, of 6 plans and instances", rows[0].What)
	assert.Contains(t, rows[0].Detail, "of 3: a default switched, a policy added, a catalog with 2 plans changed;")
	assert.Contains(t, rows[0].Detail, "a report of 2 lines")
}

// A run that is not the one to measure is an error, not a low number.
func TestMeasureOfNothing(t *testing.T) { //nolint:paralleltest // the environment is the process's
	for name, tc := range map[string]struct {
		reason string
		run    testRun
		want   string
	}{
		"Failed":   {"It says so, whatever it printed.", testRun{Report: changes, Problem: "no such flag", Code: 2}, "no such flag"},
		"NoReport": {"It prints another thing.", testRun{Report: "ok"}, "cannot read the report"},
		"NoTypes":  {"The default was not switched.", testRun{Report: `{"types":[],"costs":{"now":1,"then":2}}`}, errNothing.Error()},
		"NoCosts":  {"The catalog was not taken over.", testRun{Report: `{"types":[{}],"costs":{"now":1,"then":1}}`}, errNothing.Error()},
	} { //nolint:paralleltest // see above
		t.Run(name, func(t *testing.T) {
			_, _, _, err := measured(t, tc.run)
			require.ErrorContains(t, err, tc.want, tc.reason)
		})
	}
}
