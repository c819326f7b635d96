package inuse

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/defaultplan/defaultplan/api/v1beta1"
)

// A noted queue notes what is added to it, and how much later.
type noted struct {
	workqueue.TypedRateLimitingInterface[reconcile.Request]

	added map[string]time.Duration
}

func (n *noted) Add(r reconcile.Request) { n.added[r.String()] = 0 }

func (n *noted) AddAfter(r reconcile.Request, after time.Duration) { n.added[r.String()] = after }

// What an instance or binding begins to refer to, or ceases to, is looked at; nothing else that happens to one matters.
func TestByUser(t *testing.T) {
	t.Parallel()
	cluster, local := clusterScoped[1], namespaced[1]
	of := func(plan string) *v1beta1.ServiceInstance {
		i := &v1beta1.ServiceInstance{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: "i"}}
		if plan != "" {
			i.Spec.ClusterServicePlanRef = &v1beta1.ClusterObjectReference{Name: plan}
		}
		return i
	}
	binding := &v1beta1.ServiceBinding{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: "b"}}
	binding.Spec.ServicePlanRef = &v1beta1.LocalObjectReference{Name: "own"}
	for name, test := range map[string]struct {
		reason string
		kind   kind
		happen any
		want   map[string]time.Duration
	}{
		"Created":     {reason: "its plan is in use from now on", kind: cluster, happen: event.CreateEvent{Object: of("a")}, want: map[string]time.Duration{"/a": 0}},
		"OfNamespace": {reason: "its plan is in its namespace", kind: local, happen: event.CreateEvent{Object: binding}, want: map[string]time.Duration{"n/own": 0}},
		"OfOtherKind": {reason: "it refers to none of that kind", kind: local, happen: event.CreateEvent{Object: of("a")}},
		"There":       {reason: "the first pass over its plan finds it", kind: cluster, happen: event.CreateEvent{Object: of("a"), IsInInitialList: true}},
		"Undecided":   {reason: "it has no plan", kind: cluster, happen: event.CreateEvent{Object: of("")}},
		"Decided":     {reason: "it has one now", kind: cluster, happen: event.UpdateEvent{ObjectOld: of(""), ObjectNew: of("a")}, want: map[string]time.Duration{"/a": 0}},
		"Moved": {
			reason: "it left one for another", kind: cluster, happen: event.UpdateEvent{ObjectOld: of("a"), ObjectNew: of("b")},
			want: map[string]time.Duration{"/a": leavePause, "/b": 0},
		},
		"Same":    {reason: "most writes are of status", kind: cluster, happen: event.UpdateEvent{ObjectOld: of("a"), ObjectNew: of("a")}},
		"Deleted": {reason: "it may have been the last", kind: cluster, happen: event.DeleteEvent{Object: of("a")}, want: map[string]time.Duration{"/a": leavePause}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			q := &noted{added: map[string]time.Duration{}}
			handler := test.kind.byUser()
			switch e := test.happen.(type) {
			case event.CreateEvent:
				handler.Create(t.Context(), e, q)
			case event.UpdateEvent:
				handler.Update(t.Context(), e, q)
			case event.DeleteEvent:
				handler.Delete(t.Context(), e, q)
			}
			if test.want == nil {
				test.want = map[string]time.Duration{}
			}
			assert.Equal(t, test.want, q.added, test.reason)
		})
	}
}
