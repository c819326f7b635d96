package explain

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/webhook/options"
)

// several is a class of type needy with a default, one without a type, a plan of
// another type, and a type that has a record of a plan that is gone.
const several = `
{kind: ClusterServiceClass, metadata: {name: plain, uid: plain}, spec: {externalName: plain, externalID: plain, description: d}}
{kind: ClusterServicePlan, metadata: {name: q, uid: q}, spec: {externalName: q, externalID: q, clusterServiceClassRef: {name: plain}, description: d}}
{kind: ClusterServicePlan, metadata: {name: r, uid: r}, spec: {externalName: r, externalID: r, clusterServiceClassRef: {name: plain}, serviceType: redis, description: d}}
{kind: ClusterServiceType, metadata: {name: gone}, spec: {defaultPlanRef: {name: nowhere}}}
`

// TestTypesAreExplainAtAGlance: the same headlines, of every type at once.
func TestTypesAreExplainAtAGlance(t *testing.T) {
	t.Parallel()
	x := newAsker(t, shopClass+shop("p", byDefault, "")+shop("o", "", "")+strings.TrimPrefix(several, "\n"))
	asker, err := NewAsker(x.reader, x.admission.options)
	require.NoError(t, err)
	told, denied, err := asker.Types(t.Context(), "dev")
	require.NoError(t, err)
	require.NoError(t, denied)
	var names []string
	for i := range told {
		names = append(names, told[i].Subject.Name)
		one, err := asker.Type(t.Context(), "dev", told[i].Subject.Name)
		require.NoError(t, err)
		assert.Equal(t, one.Headline(), told[i].Headline())
		assert.Equal(t, one.Now.Tiers, told[i].Now.Tiers)
		assert.Equal(t, one.Now.Others, told[i].Now.Others)
		assert.True(t, strings.HasPrefix(one.Tree(), one.Headline()+"\n"))
	}
	assert.Equal(t, []string{"gone", "needy", "redis"}, names)
	assert.Equal(t, "needy in namespace dev → k/p (default of the cluster, by annotation)", told[1].Headline())
}

// A fence keeps lists back.
type fence struct {
	client.Reader

	err error
}

// List is denied for one kind.
func (f fence) List(ctx context.Context, list client.ObjectList, options ...client.ListOption) error {
	if _, is := list.(*v1beta1.ServicePlanList); is {
		return f.err
	}
	return f.Reader.List(ctx, list, options...)
}

// TestTypesWithoutARight: what may be read is told, and what may not is said.
func TestTypesWithoutARight(t *testing.T) {
	t.Parallel()
	x := newAsker(t, shopClass+shop("p", byDefault, ""))
	forbidden := apierrors.NewForbidden(schema.GroupResource{Resource: "serviceplans"}, "", errors.New("no"))
	asker, err := NewAsker(fence{Reader: x.reader, err: forbidden}, options.New())
	require.NoError(t, err)
	told, denied, err := asker.Types(t.Context(), "dev")
	require.NoError(t, err)
	require.ErrorIs(t, denied, forbidden)
	require.Len(t, told, 1)

	away := errors.New("connection refused")
	asker, err = NewAsker(fence{Reader: x.reader, err: away}, options.New())
	require.NoError(t, err)
	_, _, err = asker.Types(t.Context(), "dev")
	require.ErrorIs(t, err, away)
}

// TestParametersAndReason: of what admission recorded, and of what it did not.
func TestParametersAndReason(t *testing.T) {
	t.Parallel()
	meta := &metav1.ObjectMeta{Namespace: "dev", Annotations: map[string]string{v1beta1.AnnotationAppliedDefaults: `{"rule":"class-default","from":{"/a~1b/c":"plan"}}`}}
	parameters, known := ParametersOf(meta, &runtime.RawExtension{Raw: []byte(`{"a/b":{"c":1,"d":2}}`)})
	require.Len(t, parameters, 2)
	assert.True(t, known)
	assert.Equal(t, "a/b.c", parameters[0].Path())
	assert.Equal(t, layerPlan, parameters[0].From)
	assert.Equal(t, "default of class azure", Reason(meta, "azure"))
	_, known = ParametersOf(&metav1.ObjectMeta{}, nil)
	assert.False(t, known)
	assert.Empty(t, Reason(&metav1.ObjectMeta{}, ""))
}
