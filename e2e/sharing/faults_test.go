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
		"BindFails":     {reason: "it is unknown whether it was created", verb: osbtest.Bind, faults: []osbtest.Fault{osbtest.Status(500, `{}`).Acting(), osbtest.Status(503, `{}`)}},
		"BindUnheard":   {reason: "the answer was cut", verb: osbtest.Bind, faults: []osbtest.Fault{osbtest.CutMiddle()}},
		"BindHangs":     {reason: "a call does not wait longer than the timeout", verb: osbtest.Bind, faults: []osbtest.Fault{osbtest.Hang()}},
		"BindEndsBadly": {reason: "it took a while, and came to nothing", verb: osbtest.Bind, faults: []osbtest.Fault{osbtest.AsyncFailed(0)}, failed: true},
		"UnbindFails":   {reason: "it is tried until it is done", verb: osbtest.Unbind, faults: []osbtest.Fault{osbtest.Status(500, `{}`), osbtest.CutAfter(), osbtest.AsyncFailed(0)}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPair(t, nil)
			p.share(with(p.consumer))
			p.broker.Next(tc.verb, tc.faults...)
			b := p.binding("creds", "mydb")
			p.Create(b)
			if tc.failed {
				p.HasCondition(b, api.ConditionFailed, api.ConditionTrue, "")
			} else {
				p.Ready(b)
				assert.Len(t, p.broker.Bindings(), 1, tc.reason)
				assert.Contains(t, p.broker.Bindings(), b.Status.ExternalID)
				assert.NotEmpty(t, p.ReadSecret("creds").Data)
			}
			p.Delete(b)
			p.Gone(b)
			assert.Empty(t, p.broker.Bindings(), tc.reason)
			assert.Empty(t, p.broker.Orphans(), tc.reason)
			p.Ready(p.instance)
		})
	}
}
