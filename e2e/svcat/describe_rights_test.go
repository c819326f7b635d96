package svcat_test

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// readerRights are those of a developer of one namespace: the cluster's catalog, and
// all of the catalog here, but no Secrets.
const readerRights = `
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: reader-SUFFIX}
rules:
- {apiGroups: [servicecatalog.k8s.io], resources: [clusterserviceclasses, clusterserviceplans, clusterservicetypes], verbs: [get, list]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: reader-SUFFIX}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: reader-SUFFIX}
subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: reader-SUFFIX}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: reader}
rules:
- {apiGroups: [servicecatalog.k8s.io], resources: [serviceinstances, servicebindings, serviceclasses, serviceplans, servicetypes], verbs: [get, list]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: reader}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: reader}
subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: reader-SUFFIX}]
`

// TestDescribeWithFewRights: what a user may not see is left out and said, and the
// rest is shown.
func TestDescribeWithFewRights(t *testing.T) {
	t.Parallel()
	s := newDisplay(t)
	s.Apply(readerRights)
	kubeconfig, err := s.KubeconfigFor(t.Context(), s.Name("reader"))
	require.NoError(t, err)
	environment := append(os.Environ(), "KUBECONFIG="+kubeconfig)
	told := func(args ...string) string {
		t.Helper()
		got := s.runAs(environment, "", append([]string{"-n", s.Namespace}, args...)...)
		require.Zero(t, got.code, got.err)
		return got.out
	}
	plan := told("describe", "plan", s.Name("db")+"/small", "--cluster")
	assert.Contains(t, plan, "\nInstances of namespace "+s.Namespace+" (you may not list those of others):\n")
	assert.Equal(t, []string{"mydb", s.Namespace, "Ready"}, rowsOf(plan)[0])

	binding := told("describe", "binding", "mydb-admin", "--show-secrets")
	assert.Contains(t, binding, "\nSecret Data:\n  you may not read the Secret\n")
	assert.Equal(t, s.Name("mysql"), valueOf(binding, "Type:"))

	assert.True(t, strings.HasSuffix(valueOf(told("describe", "type", s.Name("mysql"), "--cluster"), "Decided By:"), ": you may not"))
	assert.Contains(t, told("describe", "instance", "mydb"), "firewall/ips:    class")

	refused := s.runAs(environment, "", "get", "brokers", "--cluster")
	assert.Equal(t, 1, refused.code)
	assert.Contains(t, refused.err, "Error from server (Forbidden): clusterservicebrokers.servicecatalog.k8s.io is forbidden")
}
