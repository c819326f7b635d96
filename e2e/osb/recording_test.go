package osb_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
)

// shortestDelay is by how much an intent that is written again is later than the one
// before: by twice the second that the API server has until a call is sent.
const shortestDelay = 2 * time.Second

// A stored is a kind of object whose calls have a deadline.
type stored interface {
	api.ServiceInstance | api.ServiceBinding
}

// withoutDelays are versions of an object without those that were only delayed: where the API
// server is slow, an intent is written again with a later deadline, which is no write that
// a scenario counts. The last of these stays, so that each write before is counted once.
func withoutDelays[O stored](versions []O) []O {
	var kept []O
	for n, version := range versions {
		if n > 0 && delayed(any(&versions[n-1]).(client.Object), any(&version).(client.Object)) {
			kept = kept[:len(kept)-1]
		}
		kept = append(kept, version)
	}
	return kept
}

// delayed says that one version differs from that before it in nothing but a later
// deadline of its call.
func delayed(before, after client.Object) bool {
	first, early := withoutDeadline(before)
	second, late := withoutDeadline(after)
	return early != nil && late != nil && late.Sub(early.Time) >= shortestDelay && equality.Semantic.DeepEqual(first, second)
}

// withoutDeadline is a copy of an object without its call's deadline, and without what
// every write changes.
func withoutDeadline(o client.Object) (bare client.Object, deadline *metav1.MicroTime) {
	bare = o.DeepCopyObject().(client.Object)
	bare.SetResourceVersion("")
	bare.SetManagedFields(nil)
	switch o := bare.(type) {
	case *api.ServiceInstance:
		deadline, o.Status.CallDeadline = o.Status.CallDeadline, nil
	case *api.ServiceBinding:
		deadline, o.Status.CallDeadline = o.Status.CallDeadline, nil
	}
	return bare, deadline
}

// TestWithoutDelays: nothing but a delay is left out of what a scenario counts.
func TestWithoutDelays(t *testing.T) {
	t.Parallel()
	at := func(version string, operation api.InstanceOperation, deadline time.Duration) api.ServiceInstance {
		i := api.ServiceInstance{ObjectMeta: metav1.ObjectMeta{ResourceVersion: version}}
		i.Status.CurrentOperation = operation
		if deadline > 0 {
			i.Status.CallDeadline = &metav1.MicroTime{Time: time.Unix(1000, 0).Add(deadline)}
		}
		return i
	}
	for name, tc := range map[string]struct {
		reason   string
		versions []api.ServiceInstance
		want     []string
	}{
		"Plain":    {"all are counted", []api.ServiceInstance{at("1", "", 0), at("2", "Provision", 5*time.Second), at("3", "", 0)}, []string{"1", "2", "3"}},
		"Delayed":  {"the last intent is counted", []api.ServiceInstance{at("1", "", 0), at("2", "Provision", 5*time.Second), at("3", "Provision", 8*time.Second), at("4", "Provision", 20*time.Second), at("5", "", 0)}, []string{"1", "4", "5"}},
		"Twice":    {"an intent that is written twice at once is a write too many", []api.ServiceInstance{at("1", "Provision", 5*time.Second), at("2", "Provision", 5100*time.Millisecond)}, []string{"1", "2"}},
		"Another":  {"another operation is another write", []api.ServiceInstance{at("1", "Provision", 5*time.Second), at("2", "Update", 9*time.Second)}, []string{"1", "2"}},
		"NoIntent": {"a write that changes nothing is counted", []api.ServiceInstance{at("1", "", 0), at("2", "", 0)}, []string{"1", "2"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got []string
			for _, version := range withoutDelays(tc.versions) {
				got = append(got, version.ResourceVersion)
			}
			assert.Equal(t, tc.want, got, tc.reason)
		})
	}
}
