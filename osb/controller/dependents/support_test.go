package dependents

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/defaultplan/defaultplan/api/v1beta1"
)

var noon = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

// stored is a client that finds the objects.
func stored(t *testing.T, objects ...client.Object) client.WithWatch {
	t.Helper()
	scheme := runtime.NewScheme()
	require.NoError(t, v1beta1.AddToScheme(scheme))
	require.NoError(t, corev1.AddToScheme(scheme))
	return fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).
		WithIndex(&v1beta1.ServiceBinding{}, v1beta1.FieldInstanceRefName, instanceRefNameOf).Build()
}

func namespaceOf(name string, annotations map[string]string) *corev1.Namespace {
	return &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name, UID: "uid-of-namespace", Annotations: annotations}}
}

func instanceRefNameOf(o client.Object) []string {
	if ref := o.(*v1beta1.ServiceBinding).Spec.InstanceRef; ref != nil {
		return []string{ref.Name}
	}
	return nil
}
