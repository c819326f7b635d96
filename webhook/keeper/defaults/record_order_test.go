package defaults

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"k8s.io/apimachinery/pkg/types"
)

// Of two plans that were annotated in the same second, the one that was stored
// first is recorded: an instance may have got it already.
func TestTheFirstToBeStoredIsRecorded(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason     string
		contenders []contender
		want       string
	}{
		"Earlier":    {reason: "the time comes first", contenders: []contender{storedAt("a", 9, "7"), storedAt("b", 8, "12")}, want: "b"},
		"SameSecond": {reason: "then the version, which is a number", contenders: []contender{storedAt("a", 8, "12"), storedAt("b", 8, "7")}, want: "b"},
		"NoVersion":  {reason: "then the UID", contenders: []contender{storedAt("b", 8, ""), storedAt("a", 8, "")}, want: "a"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := settle(state{exists: true, inUse: true, contenders: tc.contenders})
			assert.Equal(t, action{verb: recordPlan, plan: tc.want}, a, tc.reason)
		})
	}
}

func storedAt(name string, hour int, version string) contender {
	return contender{name: name, uid: types.UID(name), annotated: true, annotatedAt: at(hour), version: version}
}
