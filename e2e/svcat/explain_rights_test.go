package svcat_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestExplainTakesNoRightToWrite: a user who may read the catalog, and
// instances in one namespace, can explain; what else cannot be looked at is
// said.
func TestExplainTakesNoRightToWrite(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	e.explainEveryRule()
	e.Apply(explainObject("ServiceInstance", "mydb", "", "serviceType: mysql-SUFFIX"))
	user := "reader-" + e.Suffix
	e.Apply(strings.ReplaceAll(`
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: catalog-SUFFIX}
rules:
- {apiGroups: [servicecatalog.k8s.io], resources: [clusterserviceclasses, clusterserviceplans, clusterservicetypes], verbs: [get, list]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: catalog-SUFFIX}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: catalog-SUFFIX}
subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: USER}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: reader}
rules:
- {apiGroups: [servicecatalog.k8s.io], resources: [serviceclasses, serviceplans, servicetypes, serviceinstances], verbs: [get, list]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: reader}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: reader}
subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: USER}]
`, "USER", user))
	kubeconfig, err := e.KubeconfigFor(t.Context(), user)
	require.NoError(t, err)
	environment := append(e.Environment(), "KUBECONFIG="+kubeconfig)
	for _, args := range [][]string{{e.Name("mysql")}, {"instance/mydb"}} {
		got := e.runAs(environment, "", append([]string{"-n", e.Namespace, "explain"}, args...)...)
		require.Zero(t, got.code, got.err)
		assert.Contains(t, got.out, "→ azure-"+e.Suffix+"/premium")
		assert.Contains(t, got.out, "note: you may not list provisioningpolicies")
		assert.Contains(t, got.out, "note: you may not get namespace")
	}
	got := e.runAs(environment, e.explainNamed(explainObject("ServiceInstance", "other", "", "serviceType: mysql-SUFFIX")), "-n", e.Namespace, "explain", "-f", "-")
	require.Zero(t, got.code, got.err)
	e.golden("explain/rights", e.normal(got.out))
}
