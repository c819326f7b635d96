package deploy_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// bindingsOf are the bindings that give the controller's ServiceAccount a role, sorted.
func bindingsOf(t *testing.T, all objects) []string {
	t.Helper()
	account := rbacv1.Subject{Kind: rbacv1.ServiceAccountKind, Namespace: "defaultplan-system", Name: "defaultplan-controller"}
	var found []string
	for name, object := range all {
		if object.GetKind() != "RoleBinding" && object.GetKind() != "ClusterRoleBinding" {
			continue
		}
		binding := &rbacv1.RoleBinding{} // both kinds have these fields
		require.NoError(t, runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, binding))
		if slices.Contains(binding.Subjects, account) {
			found = append(found, name+": "+binding.RoleRef.Kind+" "+binding.RoleRef.Name)
		}
	}
	slices.Sort(found)
	return found
}

// A controller of some namespaces has its rights there, and of the cluster's none but to
// ask who reads its metrics, and to read policies, if that: by the chart, and by kustomize as the documents say.
func TestRestrictedController(t *testing.T) {
	t.Parallel()
	const reviews = "ClusterRoleBinding defaultplan-metrics-auth: ClusterRole defaultplan-metrics-auth"
	inside := []string{
		"RoleBinding a/defaultplan-controller: ClusterRole defaultplan-controller",
		"RoleBinding b/defaultplan-controller: ClusterRole defaultplan-controller",
		"RoleBinding defaultplan-system/defaultplan-controller: Role defaultplan-controller",
	}
	for name, tc := range map[string]struct {
		reason   string
		render   func(*testing.T) objects
		bindings []string
		argument string
	}{
		"Whole": {reason: "as ever", render: defaults, argument: "--log-level=info", bindings: []string{
			"ClusterRoleBinding defaultplan-controller: ClusterRole defaultplan-controller", reviews, inside[2],
		}},
		"Chart": {reason: "limits hold", argument: "--namespaces=a,b", render: func(t *testing.T) objects {
			return chart(t, "helm", "defaultplan-system", `controller.namespaces=["a","b"]`, `controller.clusterID="c1"`)
		}, bindings: append([]string{"ClusterRoleBinding defaultplan-controller-policies: ClusterRole defaultplan-controller-policies", reviews}, inside...)},
		"ChartWithEndpoints": {reason: "the rights to Services there, too", argument: "--endpoints", render: func(t *testing.T) objects {
			return chart(t, "helm", "defaultplan-system", `controller.namespaces=["a"]`, `controller.clusterID="c1"`, `controller.ignoreQuotas=true`, `controller.endpoints.enabled=true`)
		}, bindings: []string{
			reviews, "RoleBinding a/defaultplan-controller-endpoints: ClusterRole defaultplan-controller-endpoints", inside[0], inside[2],
		}},
		"ChartWithoutLimits": {reason: "nothing of the cluster", argument: "--ignore-quotas", render: func(t *testing.T) objects {
			return chart(t, "helm3", "defaultplan-system", `controller.namespaces=["a","b"]`, `controller.clusterID="c1"`, `controller.ignoreQuotas=true`)
		}, bindings: append([]string{reviews}, inside...)},
		"ChartWithoutReviews": {reason: "nothing of the cluster at all", argument: "--metrics-secure=false", render: func(t *testing.T) objects {
			return chart(t, "helm", "defaultplan-system", `controller.namespaces=["a","b"]`, `controller.clusterID="c1"`, `controller.ignoreQuotas=true`, `metrics.secure=false`)
		}, bindings: inside},
		"Kustomize": {reason: "as docs/controller-contract.md says", argument: "--namespaces=a,b", render: asDocumented, bindings: append([]string{reviews}, inside...)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			all := tc.render(t)
			assert.Equal(t, tc.bindings, bindingsOf(t, all), tc.reason)
			assert.Contains(t, argumentsOf(t, all, "controller"), tc.argument)
			assert.Contains(t, all, "ClusterRole defaultplan-controller", "it says what may be done there")
		})
	}
}

// documented finds the files of the overlay in the document: a comment with the path, and
// what follows.
var documented = regexp.MustCompile("(?s)```yaml\n# ([^\n]*\\.yaml)\n(.*?)```")

// asDocumented renders the overlay that docs/controller-contract.md has for a controller
// of some namespaces.
func asDocumented(t *testing.T) objects {
	t.Helper()
	return documentedFolder(t, ".")
}

// documentedFolder renders a folder of docs/controller-contract.md: the files whose paths
// are in it.
func documentedFolder(t *testing.T, name string) objects {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "docs", "controller-contract.md"))
	require.NoError(t, err)
	folder := filepath.Join(t.TempDir(), "mine")
	require.NoError(t, os.Mkdir(folder, 0o700))
	here, err := filepath.Abs(".")
	require.NoError(t, err)
	to, err := filepath.Rel(folder, here) // kustomize takes nothing by an absolute path
	require.NoError(t, err)
	files := 0
	for _, file := range documented.FindAllStringSubmatch(string(text), -1) {
		if filepath.Dir(file[1]) != name {
			continue
		}
		content := strings.ReplaceAll(file[2], "defaultplan/deploy", to)
		require.NoError(t, os.WriteFile(filepath.Join(folder, filepath.Base(file[1])), []byte(content), 0o600))
		files++
	}
	require.Equal(t, 2, files)
	return kustomization(t, folder)
}

// What the controller would refuse to start with, the chart refuses before.
func TestScopeRefusals(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason string
		values []string
		says   string
	}{
		"NoClusterID":  {reason: "it cannot be found out", values: []string{`controller.namespaces=["a"]`}, says: "controller.namespaces goes with controller.clusterID"},
		"NoNamespaces": {reason: "a controller that may read policies observes them", values: []string{`controller.ignoreQuotas=true`}, says: "controller.ignoreQuotas goes with controller.namespaces"},
		"NoName":       {reason: "no Lease can be called that", values: []string{`controller.name="Far East"`}, says: "controller"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, said, err := template(t, "helm", "defaultplan-system", tc.values...)
			require.Error(t, err, tc.reason)
			assert.Contains(t, said, tc.says)
		})
	}
}
