package deploy_test

import (
	"io/fs"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/deploy"
)

// clusterRoles reads the ClusterRoles of a file as shipped, by name.
func clusterRoles(t *testing.T, file string) map[string]rbacv1.ClusterRole {
	t.Helper()
	content, err := fs.ReadFile(deploy.Manifests, file)
	require.NoError(t, err)
	roles := map[string]rbacv1.ClusterRole{}
	for document := range strings.SplitSeq(strings.TrimPrefix(string(content), "---\n"), "---\n") {
		role := rbacv1.ClusterRole{}
		require.NoError(t, yaml.UnmarshalStrict([]byte(document), &role))
		require.Equal(t, "ClusterRole", role.Kind)
		roles[role.Name] = role
	}
	return roles
}

// grants says whether a role has a rule that gives a verb on a resource of ours.
func grants(role *rbacv1.ClusterRole, verb, resource string) bool {
	return slices.ContainsFunc(role.Rules, func(rule rbacv1.PolicyRule) bool {
		return has(rule.APIGroups, api.GroupName) && has(rule.Resources, resource) && has(rule.Verbs, verb)
	})
}

func has(list []string, word string) bool {
	return slices.Contains(list, word) || slices.Contains(list, "*")
}

// TestPeoplesRoles: who may do what, by the roles that a cluster's own view, edit
// and admin take in; each of these is part of the next.
func TestPeoplesRoles(t *testing.T) {
	t.Parallel()
	roles := clusterRoles(t, "rbac/aggregated_roles.yaml")
	view, edit, admin, defaults := roles["servicecatalog-view"], roles["servicecatalog-edit"], roles["servicecatalog-admin"], roles["servicecatalog-defaults"]
	require.Len(t, roles, 7)
	for label, role := range map[string]rbacv1.ClusterRole{"view": view, "edit": edit, "admin": admin} {
		assert.Equal(t, map[string]string{"rbac.authorization.k8s.io/aggregate-to-" + label: "true"}, role.Labels)
	}
	assert.Empty(t, defaults.Labels, "who chooses defaults is told so by name")
	assert.Empty(t, roles["servicecatalog-adopt"].Labels, "and who adopts")
	assert.Equal(t, []rbacv1.PolicyRule{{
		APIGroups: []string{api.GroupName}, Resources: []string{"servicebindings", "serviceinstances"}, Verbs: []string{"adopt"},
	}}, roles["servicecatalog-adopt"].Rules)
	bind := roles["servicecatalog-bind"]
	assert.Equal(t, admin.Labels, bind.Labels, "who administers a namespace lets others bind to what is in it; who edits it does not")
	assert.Equal(t, []rbacv1.PolicyRule{{APIGroups: []string{api.GroupName}, Resources: []string{"serviceinstances"}, Verbs: []string{"bind"}}}, bind.Rules)

	const none, viewer, editor, administrator = "none", "view", "edit", "admin"
	cases := map[string]struct{ reason, verb, resource, from string }{
		"See":             {reason: "what there is", verb: "list", resource: "clusterserviceplans", from: viewer},
		"SeePolicies":     {reason: "why one is refused", verb: "get", resource: "provisioningpolicies", from: viewer},
		"SeeInstances":    {reason: "of the namespace", verb: "watch", resource: "serviceinstances", from: viewer},
		"Provision":       {reason: "what the catalog is for", verb: "create", resource: "serviceinstances", from: editor},
		"Bind":            {reason: "what the catalog is for", verb: "create", resource: "servicebindings", from: editor},
		"Unbind":          {reason: "and to give it back", verb: "delete", resource: "servicebindings", from: editor},
		"OwnBroker":       {reason: "the namespace's own", verb: "create", resource: "servicebrokers", from: administrator},
		"OwnPlan":         {reason: "the namespace's own", verb: "patch", resource: "serviceplans", from: administrator},
		"OwnDefault":      {reason: "the namespace's own", verb: "update", resource: "servicetypes", from: administrator},
		"Use":             {reason: "a copy of a cluster class would escape policies", verb: "use", resource: "clusterservicebrokers", from: none},
		"Adopt":           {reason: "another's database by its ID", verb: "adopt", resource: "serviceinstances", from: none},
		"AdoptBinding":    {reason: "another's credentials by their ID", verb: "adopt", resource: "servicebindings", from: none},
		"BindVerb":        {reason: "it is of a role of its own, that admin takes in", verb: "bind", resource: "serviceinstances", from: none},
		"ClusterDefault":  {reason: "the one door to defaults", verb: "update", resource: "clusterservicetypes", from: none},
		"PatchDefault":    {reason: "the one door to defaults", verb: "patch", resource: "clusterservicetypes", from: none},
		"ClusterPlan":     {reason: "the cluster's", verb: "update", resource: "clusterserviceplans", from: none},
		"ClusterBroker":   {reason: "the cluster's", verb: "create", resource: "clusterservicebrokers", from: none},
		"Policy":          {reason: "the cluster's", verb: "delete", resource: "bindingpolicies", from: none},
		"InstanceStatus":  {reason: "the controller's", verb: "update", resource: "serviceinstances/status", from: none},
		"TypeStatus":      {reason: "the keeper's", verb: "patch", resource: "servicetypes/status", from: none},
		"InstanceRelease": {reason: "finalizers go by an update of the object", verb: "update", resource: "serviceinstances/finalizers", from: none},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := none
			switch {
			case grants(&view, tc.verb, tc.resource):
				got = viewer
			case grants(&edit, tc.verb, tc.resource):
				got = editor
			case grants(&admin, tc.verb, tc.resource):
				got = administrator
			}
			assert.Equal(t, tc.from, got, tc.reason)
		})
	}
	for _, verb := range []string{"update", "patch"} {
		assert.True(t, grants(&defaults, verb, "clusterservicetypes"))
		assert.False(t, grants(&defaults, verb, "clusterserviceplans"))
	}
}

// TestEveryKindCanBeSeen: a kind missing in view would be visible to
// administrators only.
func TestEveryKindCanBeSeen(t *testing.T) {
	t.Parallel()
	view := clusterRoles(t, "rbac/aggregated_roles.yaml")["servicecatalog-view"]
	for _, kind := range kinds(t) {
		for _, verb := range []string{"get", "list", "watch"} {
			assert.True(t, grants(&view, verb, kind.resource), "%s %s", verb, kind.resource)
		}
	}
}

// TestCatalogViewSeesNoNamespace: bound in the whole cluster, it shows every kind of the
// cluster and nothing of any namespace, whatever kinds there will be.
func TestCatalogViewSeesNoNamespace(t *testing.T) {
	t.Parallel()
	role := clusterRoles(t, "rbac/aggregated_roles.yaml")["servicecatalog-catalog-view"]
	assert.Empty(t, role.Labels, "it is in none of the cluster's own roles")
	for _, kind := range kinds(t) {
		for _, verb := range []string{"get", "list", "watch"} {
			assert.Equal(t, kind.scope == "Cluster", grants(&role, verb, kind.resource), "%s %s", verb, kind.resource)
		}
		for _, verb := range []string{"create", "update", "patch", "delete", "use"} {
			assert.False(t, grants(&role, verb, kind.resource), "%s %s", verb, kind.resource)
		}
	}
}

// TestMetricsRights: the daemons may ask who reads their metrics, and a user bound to
// the reader's role may read them, and nothing else.
func TestMetricsRights(t *testing.T) {
	t.Parallel()
	ask := defaults(t)["ClusterRole defaultplan-metrics-auth"]
	require.NotNil(t, ask)
	role := &rbacv1.ClusterRole{}
	require.NoError(t, runtime.DefaultUnstructuredConverter.FromUnstructured(ask.Object, role))
	assert.Equal(t, []rbacv1.PolicyRule{
		{APIGroups: []string{"authentication.k8s.io"}, Resources: []string{"tokenreviews"}, Verbs: []string{"create"}},
		{APIGroups: []string{"authorization.k8s.io"}, Resources: []string{"subjectaccessreviews"}, Verbs: []string{"create"}},
	}, role.Rules)
	binding := &rbacv1.ClusterRoleBinding{}
	require.NoError(t, runtime.DefaultUnstructuredConverter.FromUnstructured(defaults(t)["ClusterRoleBinding defaultplan-metrics-auth"].Object, binding))
	assert.Equal(t, role.Name, binding.RoleRef.Name)
	var accounts []string
	for _, subject := range binding.Subjects {
		accounts = append(accounts, subject.Kind+" "+subject.Namespace+"/"+subject.Name)
	}
	assert.Equal(t, []string{"ServiceAccount defaultplan-system/defaultplan-controller", "ServiceAccount defaultplan-system/defaultplan-keeper", "ServiceAccount defaultplan-system/defaultplan-webhook"}, accounts)

	reader := clusterRoles(t, "rbac/metrics_reader_role.yaml")["defaultplan-metrics-reader"]
	assert.Equal(t, []rbacv1.PolicyRule{{NonResourceURLs: []string{"/metrics"}, Verbs: []string{"get"}}}, reader.Rules)
	assert.Empty(t, reader.Labels, "it is in none of the cluster's own roles")
}

// TestWebhooksOwnRights: the webhook's pods read what admission reads, keep no instance in
// memory, and write nothing but questions about rights.
func TestWebhooksOwnRights(t *testing.T) {
	t.Parallel()
	role := clusterRoles(t, "rbac/role.yaml")["defaultplan-webhook"]
	for _, resource := range []string{
		"clusterserviceclasses", "clusterserviceplans", "clusterservicetypes", "serviceclasses", "serviceplans", "servicetypes",
		"servicebindings", "provisioningpolicies", "bindingpolicies",
	} {
		for _, verb := range []string{"get", "list", "watch"} {
			assert.True(t, grants(&role, verb, resource), "%s %s", verb, resource)
		}
	}
	assert.True(t, grants(&role, "list", "serviceinstances"))
	assert.False(t, grants(&role, "watch", "serviceinstances"), "an informer would hold them all")
	for _, rule := range role.Rules {
		for _, verb := range rule.Verbs {
			if !slices.Contains([]string{"get", "list", "watch"}, verb) {
				assert.Equal(t, []string{"subjectaccessreviews"}, rule.Resources, "it may %s", verb)
			}
		}
	}
	assert.ElementsMatch(t, []string{"get,list,watch namespaces", "create subjectaccessreviews"}, othersOf(&role))
}

// TestKeepersOwnRights: beside our kinds it reads namespaces and writes events; its Lease
// and its Secrets are granted by name.
func TestKeepersOwnRights(t *testing.T) {
	t.Parallel()
	role := clusterRoles(t, "rbac/keeper_cluster_role.yaml")["defaultplan-keeper"]
	for _, resource := range []string{"serviceinstances", "servicebindings", "clusterserviceplans", "clusterservicetypes", "servicetypes/status"} {
		assert.True(t, grants(&role, "patch", resource), resource)
	}
	assert.ElementsMatch(t, []string{"create,patch events", "get,list,watch namespaces"}, othersOf(&role))
}

// othersOf is what a role grants of the kinds of others.
func othersOf(role *rbacv1.ClusterRole) (others []string) {
	for _, rule := range role.Rules {
		if slices.Contains(rule.APIGroups, api.GroupName) {
			continue
		}
		for _, resource := range rule.Resources {
			others = append(others, strings.Join(rule.Verbs, ",")+" "+resource)
		}
	}
	return others
}
