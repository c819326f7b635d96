package simulation

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/defaultplan/defaultplan/webhook/options"
)

// A state may be that of a moment in which a default is recorded and no plan follows yet, because
// the keeper is late. Back then is a change of the record alone: no plan is written otherwise, and
// the type is asked nevertheless.
func TestRecordAlone(t *testing.T) {
	t.Parallel()
	state := stored(t, options.New(), shop)
	for _, object := range state.Objects {
		if object.GetKind() == "ClusterServiceType" {
			require.NoError(t, unstructured.SetNestedField(object.Object, "large", "spec", "defaultPlanRef", "name"))
			unstructured.RemoveNestedField(object.Object, "status", "confirmed")
		}
	}
	for name, change := range map[string]Change{
		"Default": {Default: &Default{Class: "mysql", Plan: "small-1"}},
		"Applied": applied(t, `{kind: ClusterServiceType, metadata: {name: mysql}, spec: {defaultPlanRef: {name: small}}}`)[0],
		"Deleted": {Delete: &Object{Kind: "ClusterServiceType", Name: "mysql"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			report := simulate(t, state, change)
			assert.Equal(t, []Object{{Kind: "ClusterServiceType", Name: "mysql"}}, report.Changed)
			assert.Equal(t, []string{
				"dev/mysql: mysql/large-1 cluster-default -> mysql/small-1 cluster-default", "prod/mysql: mysql/large-1 cluster-default -> mysql/small-1 cluster-default",
			}, told(report).Types)
		})
	}
}

// A plan is the default of its own type, else of its class's; without any, and where a name is that
// of several, the change cannot be made.
func TestTypeOfADefault(t *testing.T) {
	t.Parallel()
	plan := func(name, externalName, class, more string) string {
		return fmt.Sprintf(`{kind: ClusterServicePlan, metadata: {name: %[1]s}, spec: {clusterServiceBrokerName: shop, externalName: %[2]s, externalID: %[1]s, description: d, clusterServiceClassRef: {name: %[3]s}%[4]s}}`, name, externalName, class, more)
	}
	state := stored(t, options.New(), shop, plan("own", "own", "db", ", serviceType: cache"), plan("a", "twice", "db", ""), plan("b", "twice", "db", ""),
		`{kind: ClusterServiceClass, metadata: {name: untyped}, spec: {clusterServiceBrokerName: shop, externalName: untyped, externalID: untyped, bindable: true, description: d}}`, plan("c", "c", "untyped", ""))
	own := simulate(t, state, Change{Default: &Default{Class: "mysql", Plan: "own"}})
	assert.Equal(t, []string{"dev/cache: refused -> mysql/own cluster-default", "prod/cache: refused -> mysql/own cluster-default"}, told(own).Types)
	for plan, want := range map[string]string{
		"untyped/c":   "plan untyped/c has no service type that it could be the default of",
		"mysql/twice": `plan "twice" is 2 of class mysql; name one by its Kubernetes name: a, b`,
	} {
		class, plan, _ := strings.Cut(plan, "/")
		_, err := Run(t.Context(), state, []Change{{Default: &Default{Class: class, Plan: plan}}})
		require.ErrorContains(t, err, want)
	}
}
