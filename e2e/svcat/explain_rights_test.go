package svcat_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestExplainTakesNoRightToWrite: whoever may read the catalog, and instances in one
// namespace, can explain; what else cannot be looked at is said.
func TestExplainTakesNoRightToWrite(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.explainEveryRule()
	w.apply(explainObject("ServiceInstance", "mydb", "", "serviceType: mysql-SUFFIX"))
	user := "reader-" + w.suffix
	w.apply(strings.ReplaceAll(`
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
	kubeconfig, err := w.KubeconfigFor(t.Context(), user)
	require.NoError(t, err)
	environment := append(w.Environment(), "KUBECONFIG="+kubeconfig)
	for _, args := range [][]string{{w.name("mysql")}, {"instance/mydb"}} {
		got := w.runAs(environment, "", append([]string{"-n", w.namespace, "explain"}, args...)...)
		require.Zero(t, got.code, got.err)
		assert.Contains(t, got.out, "→ azure-"+w.suffix+"/premium")
		assert.Contains(t, got.out, "note: you may not list provisioningpolicies")
		assert.Contains(t, got.out, "note: you may not get namespace")
	}
	got := w.runAs(environment, w.explainNamed(explainObject("ServiceInstance", "other", "", "serviceType: mysql-SUFFIX")), "-n", w.namespace, "explain", "-f", "-")
	require.Zero(t, got.code, got.err)
	w.golden("explain/rights", w.normal(got.out))
}
