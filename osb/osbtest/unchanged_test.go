package osbtest_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/defaultplan/defaultplan/osb/osbtest"
)

// TestUnchangedUpdates sends the same twice, or puts back what was: that breaks M7 only
// where the platform could know that the broker has it already.
func TestUnchangedUpdates(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason string
		steps  []step
		broken bool
	}{
		"DoneAtOnce":  {reason: "a 200 told it", steps: steps(update("i"), update("i")), broken: true},
		"DoneByPoll":  {reason: "a poll told it", steps: []step{{script: next(osbtest.Update, osbtest.AsyncDone(0)), call: update("i")}, {call: echo("i")}, {call: update("i")}}, broken: true},
		"Refused":     {reason: "P64: nothing was done", steps: []step{{script: next(osbtest.Update, osbtest.Status(400, "{}")), call: update("i")}, {call: asMade()}}, broken: true},
		"Unavailable": {reason: "P64: nothing was done", steps: []step{{script: next(osbtest.Update, osbtest.Status(500, "{}")), call: update("i")}, {call: asMade()}}, broken: true},
		"ToldSince": {reason: "the last one told it, whatever was before", steps: []step{
			{script: next(osbtest.Update, osbtest.CutAfter()), call: update("i")}, {call: update("i")}, {call: update("i")},
		}, broken: true},
		"RefusedSince": {reason: "a refusal does not tell what became of those before", steps: []step{
			{script: next(osbtest.Update, osbtest.CutMiddle()), call: update("i")}, {script: next(osbtest.Update, osbtest.NoContent204()), call: update("i")},
			{script: next(osbtest.Update, osbtest.Status(429, "{}")), call: update("i")}, {call: update("i")},
		}},
		"ActedAndRefused": {reason: "a broker that lies", steps: []step{{script: next(osbtest.Update, osbtest.Status(500, "{}").Acting()), call: update("i")}, {call: update("i")}}},
		"NotActed":        {reason: "the platform cannot know that it was not done", steps: []step{{script: next(osbtest.Update, osbtest.CutBefore()), call: update("i")}, {call: asMade()}}},
		"Redirected":      {reason: "the platform cannot know who acted", steps: []step{{script: next(osbtest.Update, osbtest.Redirect(302, "/x")), call: update("i")}, {call: asMade()}}},
		"Failed":          {reason: "how far an operation came is not known", steps: []step{{script: next(osbtest.Update, osbtest.AsyncFailed(0)), call: update("i")}, {call: echo("i")}, {call: asMade()}}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlatform(t, osbtest.Options{})
			p.must(201, provision("i"))
			p.play(tc.steps)
			var broken []string
			for _, violation := range p.broker.Violations() {
				broken = append(broken, violation.String())
			}
			if !tc.broken {
				assert.Empty(t, broken, tc.reason)
				return
			}
			assert.Len(t, broken, 1, tc.reason)
			assert.Contains(t, broken[len(broken)-1], "M7: call", tc.reason)
		})
	}
}

// asMade updates to what it was made with.
func asMade() *request { return update("i").with(field("parameters", object{"size": 3})) }
