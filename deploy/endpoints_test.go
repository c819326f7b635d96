package deploy_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
)

// TestGuardsOfBindingsObjectsSayEverything: what a binding creates beside its Secret is held
// to as the Secret is. What the policies refuse is proven in e2e/endpoints.
func TestGuardsOfBindingsObjectsSayEverything(t *testing.T) {
	t.Parallel()
	secrets, _ := guard(t, "vap/secrets.yaml")
	ofSecrets := strings.NewReplacer(" variables.keeps ||", "", " variables.offered ||", "")
	for name, tc := range map[string]struct {
		reason, group string
		// more are validations beside those of Secrets.
		more int
	}{
		"configmaps":     {reason: "whose they are"},
		"services":       {reason: "whose they are, what an alias may be of, and what else a Service may be", more: 2},
		"endpointslices": {reason: "whose they are, and of what addresses", group: "discovery.k8s.io", more: 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			policy, binding := guard(t, "vap/"+name+".yaml")
			assert.Equal(t, name+"."+api.GroupName, policy.Name)
			assert.Equal(t, policy.Name, binding.Name)
			assert.Equal(t, admissionregistrationv1.ValidatingAdmissionPolicyBindingSpec{
				PolicyName: policy.Name, ValidationActions: []admissionregistrationv1.ValidationAction{admissionregistrationv1.Deny},
			}, binding.Spec)
			assert.Equal(t, secrets.Spec.FailurePolicy, policy.Spec.FailurePolicy)
			wanted := secrets.Spec.MatchConstraints.DeepCopy()
			wanted.ResourceRules[0].APIGroups, wanted.ResourceRules[0].Resources = []string{tc.group}, []string{name}
			assert.Equal(t, wanted, policy.Spec.MatchConstraints)
			assert.Equal(t, secrets.Spec.MatchConditions, policy.Spec.MatchConditions, "both are about the same")
			ownership := secrets.Spec.Validations[:2] // the third is about the types of Secrets
			require.Len(t, policy.Spec.Validations, len(ownership)+tc.more, tc.reason)
			for i, validation := range ownership {
				// Only a Secret may be kept for a broker although no binding owns it, or offered to one.
				assert.Equal(t, ofSecrets.Replace(validation.Expression), policy.Spec.Validations[i].Expression)
			}
			for _, validation := range policy.Spec.Validations {
				assert.Equal(t, new(metav1.StatusReasonForbidden), validation.Reason)
			}
		})
	}
}

// TestProvisionedServiceHasItsRole: the Service Binding specification requires
// it of a Provisioned Service.
func TestProvisionedServiceHasItsRole(t *testing.T) {
	t.Parallel()
	role := clusterRoles(t, "rbac/servicebinding_role.yaml")["servicecatalog-servicebinding"]
	assert.Equal(t, map[string]string{"servicebinding.io/controller": "true"}, role.Labels)
	assert.Equal(t, []rbacv1.PolicyRule{{APIGroups: []string{api.GroupName}, Resources: []string{"servicebindings"}, Verbs: []string{"get", "list", "watch"}}}, role.Rules)
}
