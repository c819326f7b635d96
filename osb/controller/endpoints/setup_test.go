package endpoints

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

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

// Without the rights to what it watches the controller does not start, and says which role
// is missing.
func TestCheckRights(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason     string
		namespaces []string
		forbidden  string
		asked      int
		want       string
	}{
		"Cluster":    {reason: "one list of each", asked: 2},
		"Namespaces": {reason: "one of each in each", namespaces: []string{"a", "b"}, asked: 4},
		"Forbidden":  {reason: "in one of them", namespaces: []string{"a", "b"}, forbidden: "b", asked: 3, want: "defaultplan-controller-endpoints"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			asked := 0
			live := interceptor.NewClient(fake.NewClientBuilder().Build(), interceptor.Funcs{List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, options ...client.ListOption) error {
				asked++
				var o client.ListOptions
				o.ApplyOptions(options)
				if tc.forbidden != "" && o.Namespace == tc.forbidden {
					return apierrors.NewForbidden(schema.GroupResource{Resource: "services"}, "", nil)
				}
				return c.List(ctx, list, options...)
			}})
			err := CheckRights(t.Context(), live, tc.namespaces)
			assert.Equal(t, tc.asked, asked, tc.reason)
			if tc.want == "" {
				require.NoError(t, err, tc.reason)
				return
			}
			require.ErrorContains(t, err, tc.want, tc.reason)
		})
	}
}

// A binding may have a name that no Service can have.
func TestInvalidName(t *testing.T) {
	t.Parallel()
	b := &v1beta1.ServiceBinding{}
	b.Name = strings.Repeat("b", 64)
	refusal := invalidName(b)
	require.NotNil(t, refusal)
	assert.Equal(t, ReasonServiceRefused, refusal.Reason)
	b.Spec.ServiceName = "db"
	assert.Nil(t, invalidName(b))
}
