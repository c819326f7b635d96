package catalog

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/defaultplan/defaultplan/api/v1beta1"
)

// Indexes are of the kinds they are for; anything else has none.
func TestIndexesOfOthers(t *testing.T) {
	t.Parallel()
	assert.Nil(t, classField(func(s *v1beta1.CommonServiceClassSpec) string { return s.ExternalID })(&v1beta1.ServiceInstance{}))
	assert.Nil(t, planField(planType)(&v1beta1.ServiceInstance{}))
	assert.Empty(t, annotatedOf(&v1beta1.ClusterServicePlan{}))
}
