package sharing_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/osb/osbtest"
)

// What goes wrong at the broker of a binding to another namespace's instance is over in the end, or is its end: nothing is
// made twice, and nothing is left.
func TestFaultsAcrossNamespaces(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason string
		verb   osbtest.Verb
		faults []osbtest.Fault
		// failed says that it is Failed, and does not become Ready.
		failed bool
	}{
		"BindFails":     {reason: "nobody knows whether it was made", verb: osbtest.Bind, faults: []osbtest.Fault{osbtest.Status(500, `{}`).Acting(), osbtest.Status(503, `{}`)}},
		"BindUnheard":   {reason: "the answer was cut", verb: osbtest.Bind, faults: []osbtest.Fault{osbtest.CutMiddle()}},
		"BindHangs":     {reason: "nobody waits longer than the timeout", verb: osbtest.Bind, faults: []osbtest.Fault{osbtest.Hang()}},
		"BindEndsBadly": {reason: "it took a while, and came to nothing", verb: osbtest.Bind, faults: []osbtest.Fault{osbtest.AsyncFailed(0)}, failed: true},
		"UnbindFails":   {reason: "it is tried until it is done", verb: osbtest.Unbind, faults: []osbtest.Fault{osbtest.Status(500, `{}`), osbtest.CutAfter(), osbtest.AsyncFailed(0)}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, nil)
			w.share(with(w.consumer))
			w.broker.Next(tc.verb, tc.faults...)
			b := w.binding("creds", "mydb")
			w.Create(b)
			if tc.failed {
				w.HasCondition(b, api.ConditionFailed, api.ConditionTrue, "")
			} else {
				w.Ready(b)
				assert.Len(t, w.broker.Bindings(), 1, tc.reason)
				assert.Contains(t, w.broker.Bindings(), b.Status.ExternalID)
				assert.NotEmpty(t, w.secret("creds").Data)
			}
			w.Delete(b)
			w.Gone(b)
			assert.Empty(t, w.broker.Bindings(), tc.reason)
			assert.Empty(t, w.broker.Orphans(), tc.reason)
			w.Ready(w.instance)
		})
	}
}
