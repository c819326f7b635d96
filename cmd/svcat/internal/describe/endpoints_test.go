package describe

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/defaultplan/defaultplan/api/v1beta1"
)

// Where the service is, and what of its credentials everybody may see.
func TestEndpointsAndPublished(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	require.NoError(t, writeEndpoints(&out, nil))
	assert.Empty(t, out.String(), "nothing is said of none")
	require.NoError(t, writeEndpoints(&out, []v1beta1.BindingEndpoint{
		{Host: "10.1.2.3", Ports: []string{"1", "5-9"}, Protocol: "UDP"}, {Host: "db.example.com", Ports: []string{"2"}, Mapped: true},
	}))
	assert.Contains(t, out.String(), "10.1.2.3 1,5-9/udp")
	assert.Regexp(t, `db\.example\.com 2/tcp +by spec\.endpointsFrom`, out.String())

	b := &v1beta1.ServiceBinding{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: "b"}}
	reader := fake.NewClientBuilder().WithObjects(&corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: "b"}, Data: map[string]string{"host": "db.example.com"}, BinaryData: map[string][]byte{"raw": {0xff}},
	}).Build()
	out.Reset()
	require.NoError(t, writePublished(t.Context(), reader, &out, b))
	assert.Empty(t, out.String(), "only what the binding made is shown")
	b.Status.ConfigMaps = []string{"gone", "b"}
	require.NoError(t, writePublished(t.Context(), reader, &out, b))
	assert.Regexp(t, `host +db\.example\.com`, out.String())
	assert.Regexp(t, `raw +/w== +\(base64\)`, out.String())
}

func TestNewTransformsInWords(t *testing.T) {
	t.Parallel()
	assert.Equal(t, "publish host in the ConfigMap", transformText(&v1beta1.SecretTransform{PublishKey: &v1beta1.PublishKeyTransform{Key: "host"}}))
	assert.Equal(t, "add the well-known keys of servicebinding", transformText(&v1beta1.SecretTransform{Preset: &v1beta1.PresetTransform{Name: "servicebinding"}}))
}
