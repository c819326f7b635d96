package webhook

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// The types of the retired catalog cannot leave an instanceRef out: what names nothing is
// absent, and the rest of the write counts.
func TestOldClientsWriteAnEmptyReference(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason, spec, later, empty, want string
	}{
		"Claim":     {reason: "a claim stays one", spec: byType, empty: `{}`, want: "absent"},
		"Bound":     {reason: "also when it is bound", spec: byType, later: boundStatus, empty: `{"name":""}`, want: "absent"},
		"Undecided": {reason: "or waits", spec: `{"clusterServiceClassExternalName":"db","clusterServicePlanExternalName":"late"}`, empty: `{"name":""}`, want: "absent"},
		"Named":     {reason: "what is stored is kept", spec: toMydb, empty: `{"name":""}`, want: `{"name":"mydb"}`},
		"Waits":     {reason: "also of one that waits", spec: `{"instanceRef":{"name":"none"}}`, empty: `{}`, want: `{"name":"none"}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := stocked(t, db, hasInstance("mydb", "db-small")).env()
			stored := changed(t, w.bindTo(tc.spec).admitted(), tc.later)
			// As they send it: all else that they know as it is.
			write := changed(t, changed(t, stored, `{"spec":{"instanceRef":null}}`), `{"metadata":{"labels":{"a":"b"}},"spec":{"instanceRef":`+tc.empty+`}}`)
			now := w.write(write, stored).admitted()
			assert.Equal(t, tc.want, at(t, now, "/spec/instanceRef"), tc.reason)
			assert.JSONEq(t, `{"metadata":{"labels":{"a":"b"}}}`, change(t, stored, now), tc.reason)
		})
	}
}
