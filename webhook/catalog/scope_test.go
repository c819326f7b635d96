package catalog_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/webhook/catalog"
)

// TestResourceOf: errors name what the API server calls it, never a Go type.
func TestResourceOf(t *testing.T) {
	t.Parallel()
	untyped := &unstructured.UnstructuredList{}
	untyped.SetGroupVersionKind(v1beta1.GroupVersion.WithKind("ClusterServicePlanList"))
	for want, list := range map[string]client.ObjectList{
		"clusterservicetypes":  &v1beta1.ClusterServiceTypeList{},
		"serviceclasses":       &v1beta1.ServiceClassList{},
		"provisioningpolicies": &v1beta1.ProvisioningPolicyList{},
		"clusterserviceplans":  untyped,
	} {
		assert.Equal(t, want, catalog.ResourceOf(list))
	}
}
