package schema

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/resolve"
	"github.com/defaultplan/defaultplan/webhook/catalog"
	"github.com/defaultplan/defaultplan/webhook/options"
)

// TestADigestIsNoSchemaOfAnother: a plan that was stored without a type for its schema, with the digest
// of another's as its schema, makes that one no other.
func TestADigestIsNoSchemaOfAnother(t *testing.T) {
	t.Parallel()
	text := `{"properties":{"size":{"type":"integer"}},"type":"object"}`
	forged := catalog.Digest([]byte(text))
	victim, hostile := &v1beta1.ClusterServicePlan{ObjectMeta: metav1.ObjectMeta{Name: "p"}}, &v1beta1.ServicePlan{ObjectMeta: metav1.ObjectMeta{Namespace: "hostile", Name: "p"}}
	victim.Spec.InstanceCreateParameterSchema = &runtime.RawExtension{Raw: []byte(text)}
	hostile.Spec.InstanceCreateParameterSchema = &runtime.RawExtension{Raw: []byte(forged)}
	scheme := runtime.NewScheme()
	require.NoError(t, v1beta1.AddToScheme(scheme))
	checker := NewChecker(fake.NewClientBuilder().WithScheme(scheme).WithObjects(victim, hostile).Build(), options.New())
	// The webhook's cache has the same of both: a digest.
	of := func(namespace string) *catalog.Definition {
		cached := &v1beta1.CommonServicePlanSpec{InstanceCreateParameterSchema: &runtime.RawExtension{Raw: []byte(forged)}}
		return &catalog.Definition{Plan: resolve.PlanEntry{Ref: resolve.Ref{Namespace: namespace, Name: "p"}}, PlanSpec: cached}
	}
	first, err := checker.Of(t.Context(), of("hostile"), ForCreate)
	require.NoError(t, err)
	second, err := checker.Of(t.Context(), of(""), ForCreate)
	require.NoError(t, err)
	assert.NotSame(t, first, second)
	assert.Equal(t, 2, checker.Kept())
}

func TestDigest(t *testing.T) {
	t.Parallel()
	digest := catalog.Digest([]byte(`{}`))
	assert.Equal(t, digest, catalog.Digest([]byte(digest)), "it is the digest")
	for _, other := range []string{`"sha256:"`, digest + digest, `"sha256:` + string(make([]byte, 1<<20)) + `"`} {
		assert.Len(t, catalog.Digest([]byte(other)), len(digest), "what is no digest has one")
		assert.NotEqual(t, other, catalog.Digest([]byte(other)))
	}
}
