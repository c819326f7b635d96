package policies

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/defaultplan/defaultplan/api/v1beta1"
)

// A policy that is put rules until one of its name takes its place, be it one that
// has no effect.
func TestRuleSetPut(t *testing.T) {
	t.Parallel()
	set := NewRuleSet()
	put := func(name string, subject v1beta1.PlanSubject) error {
		return set.Put(t.Context(), &v1beta1.ProvisioningPolicy{
			ObjectMeta: metav1.ObjectMeta{Name: name},
			Spec: v1beta1.ProvisioningPolicySpec{
				PolicyRule: v1beta1.PolicyRule{Action: v1beta1.PolicyDeny}, Subjects: []v1beta1.PolicySubject{{PlanSubject: subject}},
			},
		})
	}
	require.NoError(t, put("a", v1beta1.PlanSubject{ServiceType: "mysql"}))
	require.NoError(t, put("b", v1beta1.PlanSubject{ServiceType: "mysql"}))
	assert.Len(t, set.rules, 2)
	bad := &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "a", Operator: "Near"}}}
	require.Error(t, put("a", v1beta1.PlanSubject{PlanSelector: bad}))
	assert.Len(t, set.rules, 1)
}
