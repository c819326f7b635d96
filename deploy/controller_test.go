package deploy_test

import (
	"io/fs"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/deploy"
)

// TestSecretsGuardSaysEverything: the policy leaves no field to the API server's
// defaults, and knows the controller and its label by their names. What it refuses
// is proven in e2e.
func TestSecretsGuardSaysEverything(t *testing.T) {
	t.Parallel()
	policy, binding := guard(t, "vap/secrets.yaml")
	assert.Equal(t, policy.Name, binding.Name)
	assert.Equal(t, admissionregistrationv1.ValidatingAdmissionPolicyBindingSpec{
		PolicyName: policy.Name, ValidationActions: []admissionregistrationv1.ValidationAction{admissionregistrationv1.Deny},
	}, binding.Spec)
	assert.Equal(t, new(admissionregistrationv1.Fail), policy.Spec.FailurePolicy)
	assert.Equal(t, &admissionregistrationv1.MatchResources{
		MatchPolicy: new(admissionregistrationv1.Equivalent), NamespaceSelector: &metav1.LabelSelector{}, ObjectSelector: &metav1.LabelSelector{},
		ResourceRules: []admissionregistrationv1.NamedRuleWithOperations{{RuleWithOperations: admissionregistrationv1.RuleWithOperations{
			Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Create, admissionregistrationv1.Update, admissionregistrationv1.Delete},
			Rule: admissionregistrationv1.Rule{
				APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"secrets"}, Scope: new(admissionregistrationv1.NamespacedScope),
			},
		}}},
	}, policy.Spec.MatchConstraints)
	require.Len(t, policy.Spec.MatchConditions, 1)
	assert.Equal(t, "request.userInfo.username == 'system:serviceaccount:defaultplan-system:defaultplan-controller'", policy.Spec.MatchConditions[0].Expression)
	require.Len(t, policy.Spec.Validations, 2, "what is written, and what is written over")
	for _, validation := range policy.Spec.Validations {
		assert.Contains(t, validation.Expression, "startsWith('"+api.GroupName+"/')")
		assert.Equal(t, new(metav1.StatusReasonForbidden), validation.Reason)
	}
	written := policy.Spec.Validations[1]
	assert.Contains(t, written.Expression, "[?'"+api.LabelManagedBy+"'].orValue('') == '"+api.ManagedByController+"'")
	assert.Contains(t, written.Message, api.LabelManagedBy+"="+api.ManagedByController)
}

// TestFlowsAreTheAccounts: each file of flow is one priority level and the schema
// that sends one ServiceAccount, and all that it asks, there.
func TestFlowsAreTheAccounts(t *testing.T) {
	t.Parallel()
	files, err := fs.Glob(deploy.Manifests, "flow/*.yaml")
	require.NoError(t, err)
	assert.Equal(t, []string{"flow/controller.yaml", "flow/webhook.yaml"}, files)
	for _, file := range files {
		content, err := fs.ReadFile(deploy.Manifests, file)
		require.NoError(t, err)
		documents := strings.Split(string(content), "---\n")
		require.Len(t, documents, 2)
		level, schema := flowcontrolv1.PriorityLevelConfiguration{}, flowcontrolv1.FlowSchema{}
		require.NoError(t, yaml.UnmarshalStrict([]byte(documents[0]), &level))
		require.NoError(t, yaml.UnmarshalStrict([]byte(documents[1]), &schema))
		account := "defaultplan-" + strings.TrimSuffix(strings.TrimPrefix(file, "flow/"), ".yaml")
		assert.Equal(t, account, level.Name)
		assert.Equal(t, account, schema.Name)
		assert.Equal(t, account, schema.Spec.PriorityLevelConfiguration.Name)
		assert.Less(t, schema.Spec.MatchingPrecedence, int32(9000), "before that of all ServiceAccounts")
		require.Len(t, schema.Spec.Rules, 1)
		assert.Equal(t, []flowcontrolv1.Subject{{Kind: flowcontrolv1.SubjectKindServiceAccount, ServiceAccount: &flowcontrolv1.ServiceAccountSubject{
			Namespace: "defaultplan-system", Name: account,
		}}}, schema.Spec.Rules[0].Subjects)
	}
}

// TestControllersOwnRights: what the controller must never be able to do, by its
// generated role. A broker's catalog is written with these rights.
func TestControllersOwnRights(t *testing.T) {
	t.Parallel()
	role := clusterRoles(t, "rbac/controller_role.yaml")["defaultplan-controller"]
	require.NotEmpty(t, role.Rules)
	for _, forbidden := range []struct{ reason, verb, resource string }{
		{"a broker's catalog sets and takes away no default", "update", "clusterservicetypes"},
		{"nor in a namespace", "update", "servicetypes"},
		{"nor by the other verb", "patch", "clusterservicetypes"},
		{"nor by the other verb", "patch", "servicetypes"},
		{"it adopts nothing in its own name", "adopt", "serviceinstances"},
		{"it adopts nothing in its own name", "adopt", "servicebindings"},
		{"a namespace's broker gets nobody to a cluster's", "use", "clusterservicebrokers"},
		{"it asks for no instance", "create", "serviceinstances"},
		{"nor for a binding", "create", "servicebindings"},
	} {
		assert.False(t, grants(&role, forbidden.verb, forbidden.resource), "%s %s: %s", forbidden.verb, forbidden.resource, forbidden.reason)
	}
	for _, rule := range role.Rules {
		if !has(rule.Resources, "secrets") {
			continue
		}
		assert.False(t, has(rule.Verbs, "list") || has(rule.Verbs, "watch"), "Secrets are read by name, and never all of them")
	}
	assert.False(t, slices.ContainsFunc(role.Rules, func(rule rbacv1.PolicyRule) bool { return slices.Contains(rule.Verbs, "*") }))
}
