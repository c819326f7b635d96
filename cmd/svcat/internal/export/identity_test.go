package export

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/defaultplan/defaultplan/cmd/svcat/internal/moving"
)

// TestExportedFrom: a third cluster, which has none of the objects, is not the old one.
func TestExportedFrom(t *testing.T) {
	t.Parallel()
	system := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "kube-system", UID: "system"}}
	info := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "cluster-info"}, Data: map[string]string{"id": "old"}}
	for name, c := range map[string]struct {
		reason, header string
		has            []client.Object
		sure, refused  bool
	}{
		"Same":      {"the retired catalog wrote it down", "old", []client.Object{info, system}, true, false},
		"Other":     {"another cluster", "old", []client.Object{system}, false, true},
		"SystemUID": {"a cluster that nothing was written down in", "system", []client.Object{system}, true, false},
		"Unknown":   {"the file does not say", "", []client.Object{system}, false, false},
		"Unseen":    {"the user may not read it", "old", nil, false, false},
	} {
		sure, err := exportedFrom(t.Context(), &moving.Header{ClusterID: c.header}, readOnly(t, c.has...))
		assert.Equal(t, c.sure, sure, "%s: %s", name, c.reason)
		if c.refused {
			require.ErrorContains(t, err, `exported from the cluster with the ID "old", and the current one has "system"`, c.reason)
			continue
		}
		assert.NoError(t, err, "%s: %s", name, c.reason)
	}
	for want, err := range map[string]error{
		"":                   apierrors.NewForbidden(schema.GroupResource{Resource: "configmaps"}, "cluster-info", nil),
		"cannot read Config": apierrors.NewInternalError(errCut),
	} {
		failing := interceptor.NewClient(fake.NewClientBuilder().Build(), interceptor.Funcs{
			Get: func(context.Context, client.WithWatch, client.ObjectKey, client.Object, ...client.GetOption) error {
				return err
			},
		})
		sure, err := exportedFrom(t.Context(), &moving.Header{ClusterID: "old"}, failing)
		assert.False(t, sure)
		if want != "" {
			require.ErrorContains(t, err, want, "what cannot be read is no other cluster")
		} else {
			require.NoError(t, err, "a right that is lacking is no reason")
		}
	}
}
