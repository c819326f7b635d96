package deploy_test

import (
	"io/fs"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/deploy"
)

// TestGuardsSayEverything: each file under vap is a policy with its binding, which
// judges creates and leaves no field to the API server's defaults. What they
// refuse is proven in e2e.
func TestGuardsSayEverything(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"undecided", "unrecorded"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			policy, binding := guard(t, "vap/"+name+".yaml")
			assert.Equal(t, name+"."+api.GroupName, policy.Name)
			assert.Equal(t, policy.Name, binding.Name)
			assert.Equal(t, admissionregistrationv1.ValidatingAdmissionPolicyBindingSpec{
				PolicyName: policy.Name, ValidationActions: []admissionregistrationv1.ValidationAction{admissionregistrationv1.Deny},
			}, binding.Spec)
			assert.Equal(t, new(admissionregistrationv1.Fail), policy.Spec.FailurePolicy)
			assert.Equal(t, &admissionregistrationv1.MatchResources{
				MatchPolicy: new(admissionregistrationv1.Equivalent), NamespaceSelector: &metav1.LabelSelector{}, ObjectSelector: &metav1.LabelSelector{},
				ResourceRules: []admissionregistrationv1.NamedRuleWithOperations{{RuleWithOperations: admissionregistrationv1.RuleWithOperations{
					// Never UPDATE: what is stored must stay editable.
					Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Create},
					Rule: admissionregistrationv1.Rule{
						APIGroups: []string{api.GroupName}, APIVersions: []string{api.GroupVersion.Version},
						Resources: []string{"serviceinstances"}, Scope: new(admissionregistrationv1.NamespacedScope),
					},
				}}},
			}, policy.Spec.MatchConstraints)
			require.Len(t, policy.Spec.Validations, 1)
			assert.Equal(t, new(metav1.StatusReasonInvalid), policy.Spec.Validations[0].Reason)
			assert.Contains(t, policy.Spec.Validations[0].Message, "kubectl get mutatingwebhookconfiguration defaultplan-webhook")
		})
	}
}

// TestGuardNamesOurAnnotation catches a constant that changes while the manifest
// does not.
func TestGuardNamesOurAnnotation(t *testing.T) {
	t.Parallel()
	content, err := fs.ReadFile(deploy.Manifests, "vap/unrecorded.yaml")
	require.NoError(t, err)
	assert.Contains(t, string(content), "[?'"+api.AnnotationAppliedDefaults+"']")
}

// guard reads a policy and its binding as shipped; an unknown field is an error.
func guard(t *testing.T, file string) (
	admissionregistrationv1.ValidatingAdmissionPolicy, admissionregistrationv1.ValidatingAdmissionPolicyBinding,
) {
	t.Helper()
	content, err := fs.ReadFile(deploy.Manifests, file)
	require.NoError(t, err)
	documents := strings.Split(string(content), "---\n")
	require.Len(t, documents, 2)
	policy := admissionregistrationv1.ValidatingAdmissionPolicy{}
	require.NoError(t, yaml.UnmarshalStrict([]byte(documents[0]), &policy))
	binding := admissionregistrationv1.ValidatingAdmissionPolicyBinding{}
	require.NoError(t, yaml.UnmarshalStrict([]byte(documents[1]), &binding))
	return policy, binding
}
