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
	assert.Equal(t, "request.userInfo.username.startsWith('system:serviceaccount:defaultplan-system:defaultplan-controller')", policy.Spec.MatchConditions[0].Expression)
	require.Len(t, policy.Spec.Validations, 3, "what is written, what is written over, and of which type")
	ours := "owner.apiVersion == '" + api.GroupVersion.String() + "'"
	for i, part := range []string{ours, ours, "startsWith('servicebinding.io/')"} {
		assert.Contains(t, policy.Spec.Validations[i].Expression, part)
		assert.Equal(t, new(metav1.StatusReasonForbidden), policy.Spec.Validations[i].Reason)
	}
	written := policy.Spec.Validations[1]
	assert.Contains(t, written.Expression, "[?'"+api.LabelManagedBy+"'].orValue('') == '"+api.ManagedByController+"'")
	assert.Contains(t, written.Message, api.LabelManagedBy+"="+api.ManagedByController)
}

// TestInstancesGuardSaysEverything: the same of the policy for instances. What it refuses
// is proven in e2e/claims.
func TestInstancesGuardSaysEverything(t *testing.T) {
	t.Parallel()
	policy, binding := guard(t, "vap/instances.yaml")
	secrets, _ := guard(t, "vap/secrets.yaml")
	assert.Equal(t, policy.Name, binding.Name)
	assert.Equal(t, admissionregistrationv1.ValidatingAdmissionPolicyBindingSpec{
		PolicyName: policy.Name, ValidationActions: []admissionregistrationv1.ValidationAction{admissionregistrationv1.Deny},
	}, binding.Spec)
	assert.Equal(t, new(admissionregistrationv1.Fail), policy.Spec.FailurePolicy)
	assert.Equal(t, &admissionregistrationv1.MatchResources{
		MatchPolicy: new(admissionregistrationv1.Equivalent), NamespaceSelector: &metav1.LabelSelector{}, ObjectSelector: &metav1.LabelSelector{},
		ResourceRules: []admissionregistrationv1.NamedRuleWithOperations{{RuleWithOperations: admissionregistrationv1.RuleWithOperations{
			// Never UPDATE: the controller takes the finalizer off every instance.
			Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Create, admissionregistrationv1.Delete},
			Rule: admissionregistrationv1.Rule{
				APIGroups: []string{api.GroupName}, APIVersions: []string{api.GroupVersion.Version},
				Resources: []string{"serviceinstances"}, Scope: new(admissionregistrationv1.NamespacedScope),
			},
		}}},
	}, policy.Spec.MatchConstraints)
	assert.Equal(t, secrets.Spec.MatchConditions, policy.Spec.MatchConditions, "both are about the same")
	require.Len(t, policy.Spec.Validations, 1)
	assert.Contains(t, policy.Spec.Validations[0].Expression, "owner.apiVersion == '"+api.GroupVersion.String()+"'")
	assert.Equal(t, new(metav1.StatusReasonForbidden), policy.Spec.Validations[0].Reason)
}

// TestFlowsAreTheAccounts: what each ServiceAccount asks goes to a level of its own, but
// what hooks read to one where nothing calls a hook, and Leases to that of elections.
func TestFlowsAreTheAccounts(t *testing.T) {
	t.Parallel()
	levels, schemas := flows(t)
	require.Len(t, levels, 2)
	require.Len(t, schemas, 4)
	account := func(name string) flowcontrolv1.Subject {
		return flowcontrolv1.Subject{Kind: flowcontrolv1.SubjectKindServiceAccount, ServiceAccount: &flowcontrolv1.ServiceAccountSubject{
			Namespace: "defaultplan-system", Name: name,
		}}
	}
	webhook, keeper, controller := account("defaultplan-webhook"), account("defaultplan-keeper"), account("defaultplan-controller")
	for name, tc := range map[string]struct {
		reason, level string
		precedence    int32
		subjects      []flowcontrolv1.Subject
		verbs         []string
	}{
		"defaultplan-leases":     {reason: "a leader goes on", level: "leader-election", precedence: 790, subjects: []flowcontrolv1.Subject{keeper, controller}, verbs: []string{"get", "create", "update"}},
		"defaultplan-webhook":    {reason: "nothing that calls a hook", level: "defaultplan-webhook", precedence: 800, subjects: []flowcontrolv1.Subject{webhook}, verbs: []string{"get", "list"}},
		"defaultplan-controller": {reason: "all of it", level: "defaultplan-controller", precedence: 800, subjects: []flowcontrolv1.Subject{controller}, verbs: []string{"*"}},
		"defaultplan-keeper":     {reason: "the rest, which calls hooks", level: "defaultplan-controller", precedence: 810, subjects: []flowcontrolv1.Subject{keeper, webhook}, verbs: []string{"*"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			schema, ok := schemas[name]
			require.True(t, ok)
			assert.Equal(t, tc.level, schema.Spec.PriorityLevelConfiguration.Name, tc.reason)
			assert.Equal(t, tc.precedence, schema.Spec.MatchingPrecedence, "before that of all ServiceAccounts (9000), and in this order")
			require.Len(t, schema.Spec.Rules, 1)
			assert.Equal(t, tc.subjects, schema.Spec.Rules[0].Subjects)
			assert.Equal(t, tc.verbs, schema.Spec.Rules[0].ResourceRules[0].Verbs, tc.reason)
			if name != "defaultplan-leases" {
				require.Len(t, schema.Spec.Rules[0].NonResourceRules, 1, "discovery, without which no process starts")
				assert.Equal(t, []string{"*"}, schema.Spec.Rules[0].NonResourceRules[0].NonResourceURLs)
			}
		})
	}
	hooks := levels["defaultplan-webhook"]
	assert.Equal(t, new(int32(0)), hooks.Spec.Limited.LendablePercent, "what a flood was lent would be missed at once")
}

// TestFlowsLeaveNothingToTheServer: a rule that names no namespaces is stored with an
// empty list of them, which is then another's than the rule's in the API server's books,
// and the next one who installs gets a conflict. That a rule has no clusterScope is
// stored as that.
func TestFlowsLeaveNothingToTheServer(t *testing.T) {
	t.Parallel()
	_, schemas := flows(t)
	for name, schema := range schemas {
		for _, rule := range schema.Spec.Rules {
			assert.NotEmpty(t, rule.ResourceRules, name)
			for _, resources := range rule.ResourceRules {
				assert.NotEmpty(t, resources.Namespaces, "%s: %v", name, resources.Resources)
				assert.Equal(t, !slices.Equal(resources.Resources, []string{"leases"}), resources.ClusterScope, "%s: %v", name, resources.Resources)
			}
		}
	}
}

// flows are the objects of flow, by name.
func flows(t *testing.T) (map[string]flowcontrolv1.PriorityLevelConfiguration, map[string]flowcontrolv1.FlowSchema) {
	t.Helper()
	files, err := fs.Glob(deploy.Manifests, "flow/*.yaml")
	require.NoError(t, err)
	levels, schemas := map[string]flowcontrolv1.PriorityLevelConfiguration{}, map[string]flowcontrolv1.FlowSchema{}
	for _, file := range files {
		content, err := fs.ReadFile(deploy.Manifests, file)
		require.NoError(t, err)
		for document := range strings.SplitSeq(string(content), "---\n") {
			if strings.Contains(document, "kind: FlowSchema") {
				schema := flowcontrolv1.FlowSchema{}
				require.NoError(t, yaml.UnmarshalStrict([]byte(document), &schema), file)
				schemas[schema.Name] = schema
				continue
			}
			level := flowcontrolv1.PriorityLevelConfiguration{}
			require.NoError(t, yaml.UnmarshalStrict([]byte(document), &level), file)
			levels[level.Name] = level
		}
	}
	return levels, schemas
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
		{"a namespaced broker gives no access to a cluster's", "use", "clusterservicebrokers"},
		{"it makes the instances of bindings, and no binding", "create", "servicebindings"},
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

// TestServicesHaveARoleOfTheirOwn: without --endpoints the controller reads by their names
// where the API server is, and has no other right to Services.
func TestServicesHaveARoleOfTheirOwn(t *testing.T) {
	t.Parallel()
	role := clusterRoles(t, "rbac/controller_role.yaml")["defaultplan-controller"]
	own := clusterRoles(t, "endpoints/role.yaml")["defaultplan-controller-endpoints"]
	for _, resource := range []string{"services", "endpointslices", "servicecidrs", "localsubjectaccessreviews"} {
		about := func(rule rbacv1.PolicyRule) bool { return has(rule.Resources, resource) }
		assert.True(t, slices.ContainsFunc(own.Rules, about), resource)
		for _, rule := range role.Rules {
			if about(rule) {
				assert.Equal(t, []string{"kubernetes"}, rule.ResourceNames, resource)
				assert.Equal(t, []string{"get"}, rule.Verbs, resource)
			}
		}
	}
}
