package endpoints

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/event"

	"github.com/defaultplan/defaultplan/api/v1beta1"
)

// Of what is written into a binding, most leaves its Service as it is.
func TestConcerned(t *testing.T) {
	t.Parallel()
	given := func(b *v1beta1.ServiceBinding) {
		b.Status.Endpoints = []v1beta1.BindingEndpoint{{Host: "db.example.com"}}
	}
	nothing := func(*v1beta1.ServiceBinding) {}
	for name, tc := range map[string]struct {
		reason        string
		before, after func(*v1beta1.ServiceBinding)
		update, start bool
	}{
		"NoEndpoints":   {reason: "there is no Service", before: nothing, after: func(b *v1beta1.ServiceBinding) { b.Generation++ }},
		"Given":         {reason: "a Service is to be made", before: nothing, after: given, update: true, start: true},
		"Gone":          {reason: "it is to be removed", before: given, after: func(b *v1beta1.ServiceBinding) { b.Status.Endpoints = nil }, update: true},
		"Told":          {reason: "one is told that has no endpoints", before: nothing, after: func(b *v1beta1.ServiceBinding) { b.Status.Service = "db" }, update: true, start: true},
		"Same":          {reason: "an operation goes on", before: given, after: func(b *v1beta1.ServiceBinding) { b.Status.LastOperation = new("o") }, start: true},
		"Touched":       {reason: "a user wants it looked at", before: given, after: func(b *v1beta1.ServiceBinding) { b.Labels = map[string]string{"look": "again"} }, update: true, start: true},
		"Deleted":       {reason: "it goes with the binding", before: given, after: func(b *v1beta1.ServiceBinding) { b.DeletionTimestamp = &metav1.Time{Time: time.Now()} }, update: true, start: true},
		"BrokerIsKnown": {reason: "whose word the addresses are", before: given, after: byBroker, update: true, start: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			before, after := &v1beta1.ServiceBinding{}, &v1beta1.ServiceBinding{}
			tc.before(before)
			before.DeepCopyInto(after)
			tc.after(after)
			assert.Equal(t, tc.update, concerned().Update(event.UpdateEvent{ObjectOld: before, ObjectNew: after}), tc.reason)
			assert.Equal(t, tc.start, concerned().Create(event.CreateEvent{Object: after}), tc.reason)
			assert.False(t, concerned().Delete(event.DeleteEvent{Object: after}), "its Service goes with it")
		})
	}
}

func byBroker(b *v1beta1.ServiceBinding) {
	b.Status.ExternalProperties = &v1beta1.ServiceBindingPropertiesState{BrokerTarget: v1beta1.BrokerTarget{ClusterServiceBrokerName: "broker"}}
}
