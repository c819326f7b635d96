package simulation

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/defaultplan/defaultplan/resolve"
	"github.com/defaultplan/defaultplan/webhook/offline"
	"github.com/defaultplan/defaultplan/webhook/options"
)

// TestReadKnown: what neither cluster wrote since the clone is read once, and what one wrote is its own.
func TestReadKnown(t *testing.T) {
	t.Parallel()
	now, err := offline.New(options.New())
	require.NoError(t, err)
	plan := func(name, description string) *unstructured.Unstructured {
		return &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "servicecatalog.k8s.io/v1beta1", "kind": "ClusterServicePlan", "metadata": map[string]any{"name": name},
			"spec": map[string]any{
				"clusterServiceBrokerName": "b", "externalName": name, "externalID": "id-" + name, "description": description,
				"clusterServiceClassRef": map[string]any{"name": "c"}, "serviceType": description,
			},
		}}
	}
	require.NoError(t, now.Load(plan("kept", "before"), plan("written", "before")))
	then := now.Clone()
	require.NoError(t, then.Load(plan("written", "after")))
	a, b, plans := newSide(now), newSide(then), planEntries{}
	a.read(plans)
	b.read(plans)
	kept, written := resolve.Ref{Name: "kept"}, resolve.Ref{Name: "written"}
	assert.Same(t, a.plans[kept], b.plans[kept])
	assert.Equal(t, "before", a.plans[written].Type)
	assert.Equal(t, "after", b.plans[written].Type)
	assert.Equal(t, []resolve.PlanEntry{*b.plans[written]}, b.originalsOf("id-written"))
	assert.Empty(t, b.originalsOf(""))
}
