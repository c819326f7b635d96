package svcat_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestGetWithFewRights: of cluster and namespace the one is shown that the user may
// read, and the other said; all that was asked for being forbidden stays an error.
func TestGetWithFewRights(t *testing.T) {
	t.Parallel()
	e := newHidden(t)
	kept := e.Name("kept")
	e.Apply(`
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: developer}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: servicecatalog-view}
subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: developer-SUFFIX}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: auditor-SUFFIX}
rules:
- {apiGroups: [servicecatalog.k8s.io], resources: [clusterserviceclasses, clusterserviceplans, clusterservicetypes], verbs: [get, list]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: auditor-SUFFIX}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: auditor-SUFFIX}
subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: auditor-SUFFIX}]
`)
	as := func(user string, args ...string) outcome {
		t.Helper()
		kubeconfig, err := e.KubeconfigFor(t.Context(), e.Name(user))
		require.NoError(t, err)
		return e.runAs(append(e.Environment(), "KUBECONFIG="+kubeconfig), "", append([]string{"-n", e.Namespace}, args...)...)
	}
	developer := e.Name("developer")
	clusters := "not shown: the cluster's plans: you may not list clusterservicetypes; an administrator grants it: " +
		"kubectl create clusterrolebinding servicecatalog-catalog-view-" + developer + " --clusterrole=servicecatalog-catalog-view --user=" + developer + "\n"

	got := as("developer", "get", "plans", "--cluster")
	require.Zero(t, got.code, got.err)
	assert.Equal(t, [][]string{strings.Fields(kept + "* small " + kept + " x ns (" + e.Namespace + ")")}, rowsOf(got.out), "without the cluster's, it is the one that he knows of")
	assert.Equal(t, clusters, got.err)

	got = as("developer", "get", "plans", "--cluster", "-o", "json")
	require.Zero(t, got.code, got.err)
	assert.Len(t, parsed(t, got.out)["items"], 1)
	assert.Contains(t, got.err, "you may not list clusterserviceplans;")

	got = as("auditor", "get", "plans", "--cluster", "--type", kept)
	require.Zero(t, got.code, got.err)
	assert.Equal(t, [][]string{{kept + "*", "huge", kept, "x", "cluster"}}, rowsOf(got.out))
	assert.Contains(t, got.err, `not shown: the plans of namespace "`+e.Namespace+`": you may not list servicetypes there (--cluster does not ask for them);`)

	got = as("auditor", "get", "plans", "--cluster", "-o", "json")
	require.Zero(t, got.code, got.err)
	assert.NotEmpty(t, parsed(t, got.out)["items"], "the list is whole")

	for _, args := range [][]string{{"get", "plans", "--cluster", "-o", "json"}, {"get", "plans", "--cluster"}, {"get", "plan", kept + "/huge", "--cluster"}} {
		got = as("stranger", args...)
		assert.Equal(t, 1, got.code)
		assert.Empty(t, got.out, "no broken document")
		assert.Contains(t, got.err, "Error from server (Forbidden): ")
	}
}
