package catalog_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/webhook/catalog"
)

// TestResourceOf: errors name what the API server calls it, never a Go type.
func TestResourceOf(t *testing.T) {
	t.Parallel()
	untyped := &unstructured.UnstructuredList{}
	untyped.SetGroupVersionKind(v1beta1.GroupVersion.WithKind("ClusterServicePlanList"))
	for want, object := range map[string]runtime.Object{
		"clusterservicetypes":  &v1beta1.ClusterServiceTypeList{},
		"serviceclasses":       &v1beta1.ServiceClassList{},
		"provisioningpolicies": &v1beta1.ProvisioningPolicyList{},
		"clusterserviceplans":  untyped,
		"servicetypes":         &v1beta1.ServiceType{},
	} {
		assert.Equal(t, want, catalog.ResourceOf(object))
	}
}
