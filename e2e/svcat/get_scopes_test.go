package svcat_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
)

// hiddenCatalog has a class kept-SUFFIX of type kept-SUFFIX in both scopes: the cluster's
// plan huge is the default, the namespace's plan small suggested.
const hiddenCatalog = `
apiVersion: servicecatalog.k8s.io/v1beta1
kind: ClusterServiceClass
metadata: {name: kept-SUFFIX}
spec: {clusterServiceBrokerName: none, externalID: kept-SUFFIX, externalName: kept-SUFFIX, serviceType: kept-SUFFIX, description: x, bindable: true}
---
apiVersion: servicecatalog.k8s.io/v1beta1
kind: ClusterServicePlan
metadata: {name: huge-SUFFIX, annotations: {servicecatalog.kubernetes.io/is-default-plan: "true"}}
spec: {clusterServiceBrokerName: none, clusterServiceClassRef: {name: kept-SUFFIX}, externalID: huge-SUFFIX, externalName: huge, description: x}
---
apiVersion: servicecatalog.k8s.io/v1beta1
kind: ServiceClass
metadata: {name: local}
spec: {serviceBrokerName: none, externalID: local, externalName: kept-SUFFIX, serviceType: kept-SUFFIX, description: x, bindable: true}
---
apiVersion: servicecatalog.k8s.io/v1beta1
kind: ServicePlan
metadata: {name: small, annotations: {servicecatalog.kubernetes.io/is-suggested-plan: "true"}}
spec: {serviceBrokerName: none, serviceClassRef: {name: local}, externalID: small, externalName: small, description: x}
`

// newHidden is an env with hiddenCatalog, once the keeper has seen the types.
func newHidden(t *testing.T) *testEnv {
	t.Helper()
	e := newEnv(t)
	e.Apply(hiddenCatalog)
	e.defaultsRecorded(e.Name("kept"))
	local := &v1beta1.ServiceType{ObjectMeta: metav1.ObjectMeta{Namespace: e.Namespace, Name: e.Name("kept")}}
	e.Eventually(func() (bool, error) {
		err := e.Client().Get(t.Context(), client.ObjectKeyFromObject(local), local)
		return err == nil && local.Status.SuggestedPlan != "" && local.Status.Resolvable, err
	})
	return e
}

// TestSuggestionBelowTheClustersDefault: what admission gives has the star, and a
// suggestion that no instance gets has none, whichever command shows it.
func TestSuggestionBelowTheClustersDefault(t *testing.T) {
	t.Parallel()
	e := newHidden(t)
	kept := e.Name("kept")
	instance := "{apiVersion: servicecatalog.k8s.io/v1beta1, kind: ServiceInstance, metadata: {name: mydb}, spec: {serviceType: " + kept + "}}"
	given, stderr, err := e.Stack.Kubectl(t.Context(), instance, "-n", e.Namespace, "create", "--dry-run=server", "-f", "-", "-o", "jsonpath={.spec.clusterServicePlanRef.name}")
	require.NoError(t, err, stderr)
	require.Equal(t, e.Name("huge"), given, "what admission gives")

	both := rowsOf(e.Svcat("get", "plans", "--default", "--cluster", "--type", kept))
	assert.Equal(t, [][]string{{kept + "*", "huge", kept, "x", "cluster"}}, both)
	counts := func(plural string) string {
		return `the cluster's default plans hold in namespace "` + e.Namespace + `" too, for types that have none there; to list both: svcat get ` + plural + ` --default -n ` + e.Namespace + ` --scope all` + "\n"
	}
	assert.Equal(t, `no plans that stand for a type in namespace "`+e.Namespace+`"`+"\n"+counts("plans"), e.Svcat("get", "plans", "--default"), "the cluster is not shown, but counts")
	assert.Contains(t, e.Svcat("get", "plans", "--default", "--scope", "all"), kept+"*", "as it is told")
	assert.Equal(t, kept, rowsOf(e.Svcat("get", "plan", "small"))[0][0])
	assert.Equal(t, kept, rowsOf(e.Svcat("get", "type", kept))[0][0])
	assert.Equal(t, `no types with a default plan in namespace "`+e.Namespace+`"`+"\n"+counts("types"), e.Svcat("get", "types", "--default"))
	assert.Equal(t, "true", valueOf(e.Svcat("describe", "plan", "small"), "Suggested:"))
	assert.Equal(t, kept, rowsOf(e.Svcat("describe", "class", kept))[0][0])

	described := e.Svcat("describe", "type", kept)
	assert.Equal(t, kept+"/huge (default of the cluster)", valueOf(described, "Gives:"))
	assert.Equal(t, [][]string{
		{kept + "/huge", e.Name("huge"), "cluster", "chosen"},
		strings.Fields(kept + "/small small ns (" + e.Namespace + ") only suggested"),
	}, rowsOf(described)[:2])
}

// TestClassesHideNoPlans: a namespace's class of the same name as the cluster's.
func TestClassesHideNoPlans(t *testing.T) {
	t.Parallel()
	e := newHidden(t)
	kept := e.Name("kept")
	assert.Equal(t, "huge", rowsOf(e.Svcat("get", "plan", kept+"/huge", "--scope", "all"))[0][1])
	assert.Equal(t, "huge", valueOf(e.Svcat("describe", "plan", kept+"/huge"), "Name:"))
	assert.Equal(t, "huge", valueOf(e.Svcat("describe", "plan", "huge", "--class", kept), "Name:"))
	assert.Equal(t, `error: no plan "hug" in class `+kept+` of namespace "`+e.Namespace+`" or of the cluster; did you mean huge? plans: huge, small`+"\n",
		e.SvcatFails(1, "get", "plan", kept+"/hug", "--scope", "all"))
	assert.Equal(t, `error: no plan "huge" in class `+kept+` of namespace "`+e.Namespace+`"; plans: small`+"\n",
		e.SvcatFails(1, "get", "plan", kept+"/huge"))
	assert.Equal(t, `error: no plan "smal" in class local of namespace "`+e.Namespace+`"; did you mean small? plans: small`+"\n",
		e.SvcatFails(1, "get", "plan", "--kube-name", "local/smal"))
	assert.Contains(t, e.SvcatFails(1, "get", "class", "--kube-name", "loca"), "did you mean local? classes: local\n")
}
