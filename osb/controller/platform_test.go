package controller

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/osb"
)

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

func TestOrigin(t *testing.T) {
	t.Parallel()
	notes := map[string]string{"acme.com/team": "red", "kubectl.kubernetes.io/last-applied-configuration": "{}", "xacme.com/a": "b"}
	for name, test := range map[string]struct {
		reason   string
		prefixes []string
		want     map[string]any
	}{
		"NoAnnotations": {
			reason: "by default no annotation leaves the cluster",
			want:   map[string]any{"platform": "kubernetes", "clusterid": "c", "namespace": "n", "instance_name": "i"},
		},
		"Prefixed": {
			reason: "those that the operator chose do", prefixes: []string{"acme.com/", "other/"},
			want: map[string]any{
				"platform": "kubernetes", "clusterid": "c", "namespace": "n", "instance_name": "i",
				"namespace_annotations": map[string]any{"acme.com/team": "red"}, "instance_annotations": map[string]any{},
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := platform{reader: stored(t, namespaceOf("n", notes)), clusterID: "c", annotations: test.prefixes}
			instance := &v1beta1.ServiceInstance{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: "i"}}
			got, err := p.origin(t.Context(), "n", instance)
			require.NoError(t, err)
			assert.Equal(t, test.want, got.context, test.reason)
			assert.Equal(t, "c", got.organization)
			assert.Equal(t, "uid-of-namespace", got.space)
			again, err := p.origin(t.Context(), "n", instance)
			require.NoError(t, err)
			assert.Equal(t, got.checksum, again.checksum)
			instance.Name = "j"
			other, err := p.origin(t.Context(), "n", instance)
			require.NoError(t, err)
			assert.NotEqual(t, got.checksum, other.checksum)
		})
	}
	_, err := (&platform{reader: stored(t)}).origin(t.Context(), "n", &v1beta1.ServiceInstance{})
	assert.ErrorContains(t, err, `cannot read namespace "n"`)
}

func TestIdentityOf(t *testing.T) {
	t.Parallel()
	assert.Nil(t, identityOf(nil))
	got := identityOf(&v1beta1.UserInfo{Username: "ann", UID: "1", Groups: []string{"dev"}, Extra: map[string]v1beta1.ExtraValue{"k": {"a", "b"}}})
	assert.Equal(t, &osb.Identity{Platform: "kubernetes", Value: osb.IdentityValue{
		Username: "ann", UID: "1", Groups: []string{"dev"}, Extra: map[string][]string{"k": {"a", "b"}},
	}}, got)
	assert.NotNil(t, identityOf(&v1beta1.UserInfo{}).Value.Extra)
}

func instanceRefNameOf(o client.Object) []string {
	if ref := o.(*v1beta1.ServiceBinding).Spec.InstanceRef; ref != nil {
		return []string{ref.Name}
	}
	return nil
}
