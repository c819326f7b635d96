package platform

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/osb"
)

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
			p := Profile{Reader: stored(t, namespaceOf("n", notes)), ClusterID: "c", Annotations: test.prefixes}
			instance := &v1beta1.ServiceInstance{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: "i"}}
			got, err := p.Origin(t.Context(), "n", instance)
			require.NoError(t, err)
			assert.Equal(t, test.want, got.Context, test.reason)
			assert.Equal(t, "c", got.Organization)
			assert.Equal(t, "uid-of-namespace", got.Space)
			again, err := p.Origin(t.Context(), "n", instance)
			require.NoError(t, err)
			assert.Equal(t, got.Checksum, again.Checksum)
			instance.Name = "j"
			other, err := p.Origin(t.Context(), "n", instance)
			require.NoError(t, err)
			assert.NotEqual(t, got.Checksum, other.Checksum)
		})
	}
	_, err := (&Profile{Reader: stored(t)}).Origin(t.Context(), "n", &v1beta1.ServiceInstance{})
	assert.ErrorContains(t, err, `cannot read namespace "n"`)
}

func TestIdentityOf(t *testing.T) {
	t.Parallel()
	assert.Nil(t, IdentityOf(nil))
	got := IdentityOf(&v1beta1.UserInfo{Username: "ann", UID: "1", Groups: []string{"dev"}, Extra: map[string]v1beta1.ExtraValue{"k": {"a", "b"}}})
	assert.Equal(t, &osb.Identity{Platform: "kubernetes", Value: osb.IdentityValue{
		Username: "ann", UID: "1", Groups: []string{"dev"}, Extra: map[string][]string{"k": {"a", "b"}},
	}}, got)
	assert.NotNil(t, IdentityOf(&v1beta1.UserInfo{}).Value.Extra)
}
