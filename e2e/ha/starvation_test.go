package ha_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/defaultplan/defaultplan/e2e/stack"
	"github.com/defaultplan/defaultplan/e2e/stack/suite"
)

const (
	// seats are how many requests a small API server has under way at the same time.
	seats = 12
	// flooded is how long they come.
	flooded = 4 * time.Second
)

// TestNothingStarves: a flood of creates takes every seat that it may at a small API
// server. Each holds its seat while it waits for a hook, and the hook reads: what it reads
// must not wait for a seat behind the creates that wait for it. The flood is a
// ServiceAccount's, as a pipeline's is: by itself, the API server would give the webhook
// its seats from the same level.
func TestNothingStarves(t *testing.T) {
	half := strconv.Itoa(seats / 2)
	s := suite.New(t, stack.Options{Whole: true, Webhooks: 2, WebhookArgs: []string{"--keeper=off"}, ControlPlaneArgs: []string{
		"--", "--max-requests-inflight=" + half, "--max-mutating-requests-inflight=" + half,
	}})
	_, err := s.StartKeeper(t.Context())
	require.NoError(t, err)
	t.Run("AsShipped", func(t *testing.T) { noHookStarves(newEnv(t, s)) })
	t.Run("Without", func(t *testing.T) { hooksStarve(newEnv(t, s)) })
}

// noHookStarves, and the keeper works, though its writes wait like those of others.
func noHookStarves(e *testEnv) {
	busy := newTurmoil(e)
	over := busy.begin()
	answers := e.floods(e.newChoice("mysql"), 40)
	over()
	for _, a := range failed(answers) {
		// Some may be told to come again later: that is no failure of a hook.
		assert.True(e, apierrors.IsTooManyRequests(a.err), "%s", &a)
	}
	busy.settles()
	waits := e.waits()
	e.Logf("waited for a seat, on average: %v", waits)
	for _, one := range []string{
		"defaultplan-webhook defaultplan-webhook", "defaultplan-keeper defaultplan-controller", "defaultplan-leases leader-election",
		"service-accounts workload-low",
	} {
		assert.Contains(e, waits, one)
	}
	reads, creates := waits["defaultplan-webhook defaultplan-webhook"], waits["service-accounts workload-low"]
	assert.Less(e, reads, creates/5, "what hooks read passes the creates")
}

// hooksStarve where deploy/flow is not installed: the creates that have the seats wait
// for reads that have none, until the hooks time out.
func hooksStarve(e *testEnv) {
	c := e.newChoice("mysql")
	e.removeFlow()
	starved := 0
	for _, a := range failed(e.floods(c, seats)) {
		if apierrors.IsInternalError(a.err) {
			starved++
		}
	}
	assert.NotZero(e, starved, "it is deploy/flow that keeps hooks from starving")
}

// floods has one ServiceAccount create by type, so many at once, as much as it can.
func (e *testEnv) floods(c choice, crowd int) []answer {
	e.Helper()
	l := e.startLoad(e.as("system:serviceaccount:"+e.Namespace+":flood", "system:serviceaccounts"), c.serviceType, crowd, time.Millisecond)
	<-time.After(flooded)
	answers := l.end()
	e.Logf("%d creates, %d failed, the slowest took %s", len(answers), len(failed(answers)), slowest(answers))
	return answers
}

// removeFlow deletes the schemas of deploy/flow: without them its levels have no requests.
func (e *testEnv) removeFlow() {
	e.Helper()
	var schemas flowcontrolv1.FlowSchemaList
	require.NoError(e, e.Client().List(e.Context(), &schemas))
	removed := 0
	for i := range schemas.Items {
		if strings.HasPrefix(schemas.Items[i].Name, "defaultplan-") {
			require.NoError(e, e.Client().Delete(e.Context(), &schemas.Items[i]))
			removed++
		}
	}
	assert.Equal(e, 4, removed)
}

// waits is how long requests waited for a seat on average, by flow schema and level.
func (e *testEnv) waits() map[string]time.Duration {
	e.Helper()
	text, stderr, err := e.Stack.Kubectl(e.Context(), "", "get", "--raw", "/metrics")
	require.NoError(e, err, stderr)
	const metric = `apiserver_flowcontrol_request_wait_duration_seconds_%s{execute="true",flow_schema=`
	read := func(part string) map[string]float64 {
		found := map[string]float64{}
		for line := range strings.Lines(text) {
			labels, is := strings.CutPrefix(line, fmt.Sprintf(metric, part))
			if !is {
				continue
			}
			labels, value, _ := strings.Cut(labels, "} ")
			number, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
			require.NoError(e, err, line)
			found[strings.ReplaceAll(strings.ReplaceAll(labels, `"`, ""), ",priority_level=", " ")] = number
		}
		return found
	}
	sums, waits := read("sum"), map[string]time.Duration{}
	for name, count := range read("count") {
		waits[name] = time.Duration(sums[name] / count * float64(time.Second))
	}
	return waits
}
