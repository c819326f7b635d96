package server

import (
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A fakeConn is a connection that knows whether it was closed.
type fakeConn struct {
	net.Conn

	closed bool
}

func (c *fakeConn) Close() error { c.closed = true; return nil }

// Connections are named by letters. "+a" opens a, "a" is a request on it, "a." its answer
// and "-a" its end; four may be open.
func TestTheLeastUsefulConnectionIsClosed(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ reason, story, closed string }{
		"Few":              {reason: "there is room", story: "+a +b +c +d", closed: ""},
		"Ended":            {reason: "what has ended makes room", story: "+a +b +c +d -b +e", closed: ""},
		"NeverAnswered":    {reason: "of many strangers the oldest goes", story: "+a a a. +b +c +d +e", closed: "b"},
		"SlowBody":         {reason: "so does one that is sending", story: "+a a a. +b b +c +d +e", closed: "b"},
		"Flood":            {reason: "strangers push out strangers", story: "+a a a. +b +c +d +e +f +g", closed: "b c d"},
		"FirstReview":      {reason: "of few strangers none goes: one may have come to send a review", story: "+a a a. +b b b. +c c c. +d d +e", closed: "a"},
		"Idle":             {reason: "of those that had answers, the one that has been idle for longest", story: "+a a a. +b b b. +c c c. +d d d. a a. +e", closed: "b"},
		"NewestIsSpared":   {reason: "it may be the API server's", story: "+a a a. +b b b. +c c c. +d d d. +e e e.", closed: "a"},
		"Judged":           {reason: "a request that is being judged is not lost", story: "+a a a. a +b b b. +c c c. +d d d. +e", closed: "b"},
		"AllJudged":        {reason: "but where all are", story: "+a a a. a +b b b. b +c c c. c +d d d. d +e", closed: "a"},
		"ClosedSaysSoOnce": {reason: "its end is no second one", story: "+a +b +c +d +e -a +f", closed: "a b"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			closed := prometheus.NewCounter(prometheus.CounterOpts{Name: "closed_total", Help: "Closed."})
			c, conns := newConnections(4, closed), map[string]*fakeConn{}
			for step := range strings.FieldsSeq(tc.story) {
				state, letter := http.StateActive, step
				switch {
				case step[0] == '+':
					state, letter = http.StateNew, step[1:]
					conns[letter] = &fakeConn{}
				case step[0] == '-':
					state, letter = http.StateClosed, step[1:]
				case step[len(step)-1] == '.':
					state, letter = http.StateIdle, step[:1]
				}
				c.follow(conns[letter], state)
				require.LessOrEqual(t, len(c.known), 4)
				require.Equal(t, len(c.known), c.order.Len())
			}
			want := strings.Fields(tc.closed)
			for letter, conn := range conns {
				assert.Equal(t, slices.Contains(want, letter), conn.closed, "%s: %s", tc.reason, letter)
			}
			assert.InDelta(t, len(want), testutil.ToFloat64(closed), 0)
		})
	}
}
