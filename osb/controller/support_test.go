package controller

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/osb/controller/broker"
	"github.com/defaultplan/defaultplan/osb/controller/expose"
	"github.com/defaultplan/defaultplan/osb/controller/queue"
)

var theBroker = broker.Key{Name: "b"}

var noon = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

// freeQueues are queues in which nothing waits.
func freeQueues() *queue.Queues {
	return queue.New(queue.Limits{Calls: 128, PerBroker: 24, PerNamespace: 32, Namespaced: 96})
}

// around are rules of a cluster in which nothing is refused but what is in every one.
func around(context.Context) (*expose.Rules, error) { return &expose.Rules{}, nil }

// stored is a client that finds the objects.
func stored(t *testing.T, objects ...client.Object) client.WithWatch {
	t.Helper()
	scheme := runtime.NewScheme()
	require.NoError(t, v1beta1.AddToScheme(scheme))
	require.NoError(t, corev1.AddToScheme(scheme))
	return fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).
		WithIndex(&v1beta1.ClusterServicePlan{}, v1beta1.FieldExternalID, func(o client.Object) []string {
			return []string{o.(*v1beta1.ClusterServicePlan).Spec.ExternalID}
		}).
		WithIndex(&v1beta1.ServiceBinding{}, v1beta1.FieldInstanceRefName, instanceRefNameOf).Build()
}

// bindingTo is a binding to instance i of its namespace that is at the broker.
func bindingTo(name string, edits ...func(*v1beta1.ServiceBinding)) *v1beta1.ServiceBinding {
	b := &v1beta1.ServiceBinding{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: name, Finalizers: []string{v1beta1.FinalizerServiceCatalog}}}
	b.Spec.InstanceRef = &v1beta1.InstanceReference{Name: "i"}
	b.Status.UnbindStatus = v1beta1.UnbindRequired
	for _, edit := range edits {
		edit(b)
	}
	return b
}

func instanceRefNameOf(o client.Object) []string {
	if ref := o.(*v1beta1.ServiceBinding).Spec.InstanceRef; ref != nil {
		return []string{ref.Name}
	}
	return nil
}
