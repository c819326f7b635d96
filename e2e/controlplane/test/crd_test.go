package test

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
)

// things are of our group, so that the audit policy sees them.
var things = schema.GroupVersionResource{Group: "servicecatalog.k8s.io", Version: "v1", Resource: "things"}

func TestCustomObjectsAreCollectedAndCounted(t *testing.T) {
	t.Parallel()
	p := useShared(t)
	client := clientset(t, p)
	custom := dynamicClient(t, p).Resource(things)
	defineThings(t, p)
	name := namespace(t, client)
	const counted corev1.ResourceName = "count/things.servicecatalog.k8s.io"
	quota := &corev1.ResourceQuota{
		ObjectMeta: metav1.ObjectMeta{Name: "things"},
		Spec:       corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{counted: resource.MustParse("2")}},
	}
	_, err := client.CoreV1().ResourceQuotas(name).Create(t.Context(), quota, metav1.CreateOptions{})
	require.NoError(t, err)

	owner, err := client.CoreV1().ConfigMaps(name).Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "owner"}}, metav1.CreateOptions{})
	require.NoError(t, err)
	owned := thing("owned")
	owned.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: "v1", Kind: "ConfigMap", Name: owner.Name, UID: owner.UID}})
	eventually(t, func(ctx context.Context) bool {
		_, err = custom.Namespace(name).Create(ctx, owned, metav1.CreateOptions{})
		return err == nil
	})
	eventually(t, func(ctx context.Context) bool {
		got, err := client.CoreV1().ResourceQuotas(name).Get(ctx, quota.Name, metav1.GetOptions{})
		if err != nil {
			return false
		}
		quantity := got.Status.Used[counted]
		return quantity.Value() == 1
	})
	require.NoError(t, client.CoreV1().ConfigMaps(name).Delete(t.Context(), owner.Name, metav1.DeleteOptions{}))
	eventually(t, func(ctx context.Context) bool {
		_, err := custom.Namespace(name).Get(ctx, "owned", metav1.GetOptions{})
		return apierrors.IsNotFound(err)
	})
}

func TestTheAuditLogHasOurGroupAndNoOther(t *testing.T) {
	t.Parallel()
	p := useShared(t)
	defineThings(t, p)
	client := clientset(t, p)
	name := namespace(t, client)
	_, err := dynamicClient(t, p).Resource(things).Namespace(name).Create(t.Context(), thing("audited"), metav1.CreateOptions{})
	require.NoError(t, err)

	eventually(t, func(context.Context) bool {
		content, err := os.ReadFile(filepath.Join(p.dir, "audit.log"))
		require.NoError(t, err)
		for line := range bytes.Lines(content) {
			if bytes.HasSuffix(line, []byte("\n")) && isCreationIn(t, line, name) {
				return true
			}
		}
		return false
	})
}

// isCreationIn checks an audit line, and says whether it is of an object made in the namespace.
func isCreationIn(t *testing.T, line []byte, namespace string) bool {
	t.Helper()
	event := struct {
		Level, Verb   string
		ObjectRef     struct{ Namespace, APIGroup string }
		RequestObject json.RawMessage
		Annotations   map[string]string
	}{}
	require.NoError(t, json.Unmarshal(line, &event))
	assert.Equal(t, things.Group, event.ObjectRef.APIGroup)
	assert.Equal(t, "Metadata", event.Level)
	assert.Empty(t, event.RequestObject, "parameters are in there")
	if event.ObjectRef.Namespace != namespace || event.Verb != "create" {
		return false
	}
	assert.Equal(t, "allow", event.Annotations["authorization.k8s.io/decision"])
	return true
}

func dynamicClient(t *testing.T, p *process) *dynamic.DynamicClient {
	t.Helper()
	client, err := dynamic.NewForConfig(p.config(t))
	require.NoError(t, err)
	return client
}

func thing(name string) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": things.GroupVersion().String(), "kind": "Thing", "metadata": map[string]any{"name": name},
	}}
}

// defineThings makes the CRD, or finds it, and returns when it is served.
func defineThings(t *testing.T, p *process) {
	t.Helper()
	client := dynamicClient(t, p)
	_, err := client.Resource(schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}).
		Create(t.Context(), thingsCRD(), metav1.CreateOptions{})
	if !apierrors.IsAlreadyExists(err) {
		require.NoError(t, err)
	}
	eventually(t, func(ctx context.Context) bool {
		_, err := client.Resource(things).List(ctx, metav1.ListOptions{})
		return err == nil
	})
}

func thingsCRD() *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "apiextensions.k8s.io/v1",
		"kind":       "CustomResourceDefinition",
		"metadata": map[string]any{
			"name":        things.GroupResource().String(),
			"annotations": map[string]any{"api-approved.kubernetes.io": "unapproved, for a test"},
		},
		"spec": map[string]any{
			"group": things.Group,
			"scope": "Namespaced",
			"names": map[string]any{"plural": things.Resource, "kind": "Thing"},
			"versions": []any{map[string]any{
				"name": things.Version, "served": true, "storage": true,
				"schema": map[string]any{"openAPIV3Schema": map[string]any{"type": "object"}},
			}},
		},
	}}
}
