package simulate_test

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/e2e/env"
)

// A viewer is a user with some roles, in the namespace of the test or in the whole cluster.
func viewer(e *env.Env, name string, local, whole []string) env.Command {
	e.Helper()
	user := e.Name(name)
	subjects := []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: user}}
	for _, role := range local {
		e.Create(&rbacv1.RoleBinding{
			ObjectMeta: metav1.ObjectMeta{Namespace: e.Namespace, Name: user + "-" + role}, Subjects: subjects,
			RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role},
		})
	}
	for _, role := range whole {
		e.Create(&rbacv1.ClusterRoleBinding{
			ObjectMeta: metav1.ObjectMeta{Name: user + "-" + role}, Subjects: subjects,
			RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role},
		})
	}
	if len(whole) > 0 { // the API server learns of rights by a watch
		as := e.As(user)
		e.Eventually(func() (bool, error) {
			return as.MayDo(authorizationv1.ResourceAttributes{Verb: "list", Group: api.GroupName, Resource: "clusterserviceplans"})
		})
	}
	kubeconfig, err := e.KubeconfigFor(e.Context(), user)
	require.NoError(e, err)
	return env.Command{Binary: "svcat", Environment: append(e.Environment(), "KUBECONFIG="+kubeconfig)}
}

// TestAViewerSimulates: by the roles as they are shipped, without a right to write. What a user
// may not read is told.
func TestAViewerSimulates(t *testing.T) {
	t.Parallel()
	e := env.New(t)
	e.AddPlans(env.Class{Name: e.Name("c"), ServiceType: e.Name("db")}, env.Plan{Name: e.Name("small"), Default: true}, env.Plan{Name: e.Name("large")})
	e.Eventually(func() (bool, error) {
		recorded, err := e.RecordedDefault("", e.Name("db"))
		return recorded == e.Name("small"), err
	})
	for name, tc := range map[string]struct {
		reason       string
		local, whole []string
		lacks        []string
	}{
		"operator": {"of the whole cluster", nil, []string{"servicecatalog-view"}, []string{"namespaces: there is no right to list them"}},
		"developer": {"of one namespace", []string{"servicecatalog-view"}, []string{"servicecatalog-catalog-view"}, []string{
			"namespaces: there is no right to list them", "serviceinstances of namespaces other than " + e.Namespace + ": there is no right to list them",
		}},
	} {
		command := viewer(e, name, tc.local, tc.whole)
		command.Args = []string{"simulate", "--default", e.Name("c") + "/" + e.Name("large"), "--unresolved=wait"}
		if name == "developer" {
			file := t.TempDir() + "/snapshot"
			taking := command
			taking.Args = []string{"snapshot", "-n", e.Namespace, "-o", file}
			require.Zero(t, e.Exec(taking).Code)
			command.Args = append(command.Args, "--snapshot", file)
		}
		got := e.Exec(command)
		assert.Equal(t, 1, got.Code, "%s: %s%s", tc.reason, got.Stdout, got.Stderr)
		assert.Contains(t, got.Stdout, e.Name("c")+"/"+e.Name("large"), tc.reason)
		for _, lacked := range tc.lacks {
			assert.Contains(t, got.Stdout, lacked, tc.reason)
		}
	}
	recorded, err := e.RecordedDefault("", e.Name("db"))
	require.NoError(t, err)
	assert.Equal(t, e.Name("small"), recorded, "nothing is written")
	command := viewer(e, "stranger", nil, nil)
	command.Args = []string{"snapshot"}
	got := e.Exec(command)
	assert.Equal(t, 1, got.Code)
	assert.Contains(t, got.Stderr, "forbidden", "a user who may read nothing has no snapshot: %s", got.Stderr)
}

// TestASnapshotHoldsNoValue: neither of parameters, unless they are asked for, nor ever of Secrets.
func TestASnapshotHoldsNoValue(t *testing.T) {
	t.Parallel()
	e := env.New(t)
	e.AddPlans(env.Class{Name: e.Name("c")}, env.Plan{Name: e.Name("p")})
	e.Kubectl(strings.NewReplacer("CLASS", e.Name("c"), "PLAN", e.Name("p")).Replace(`
{apiVersion: v1, kind: Secret, metadata: {name: s}, stringData: {password: s3cr3t-c4n4ry}}
---
apiVersion: servicecatalog.k8s.io/v1beta1
kind: ServiceInstance
metadata: {name: db}
spec: {clusterServiceClassExternalName: CLASS, clusterServicePlanExternalName: PLAN, parameters: {password: v4lu3-c4n4ry}, parametersFrom: [{secretKeyRef: {name: s, key: password}}]}
`), "apply", "-f", "-")
	for flag, kept := range map[string]bool{"--with-parameters=false": false, "--with-parameters": true} {
		file := t.TempDir() + "/snapshot"
		assert.Contains(t, e.Svcat("snapshot", flag, "-o", file), "objects\n")
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		assert.Contains(t, string(text), `"name":"db"`)
		assert.Contains(t, string(text), `"password":`, "names stay")
		assert.Equal(t, kept, strings.Contains(string(text), "v4lu3-c4n4ry"), flag)
		assert.NotContains(t, string(text), "s3cr3t-c4n4ry", flag)
		assert.NotContains(t, e.SvcatFails(2, "snapshot", "-o", file), "c4n4ry", "a file that is there stays")
	}
}
