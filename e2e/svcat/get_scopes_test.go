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

// newHidden is a world with hiddenCatalog, once the keeper has seen the types.
func newHidden(t *testing.T) *world {
	t.Helper()
	w := newWorld(t)
	w.apply(hiddenCatalog)
	w.defaultsRecorded(w.name("kept"))
	local := &v1beta1.ServiceType{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: w.name("kept")}}
	w.eventually(func() (bool, error) {
		err := w.client.Get(t.Context(), client.ObjectKeyFromObject(local), local)
		return err == nil && local.Status.SuggestedPlan != "" && local.Status.Resolvable, err
	})
	return w
}

// TestSuggestionBelowTheClustersDefault: what admission gives has the star, and a
// suggestion that nobody gets has none, whichever command shows it.
func TestSuggestionBelowTheClustersDefault(t *testing.T) {
	t.Parallel()
	w := newHidden(t)
	kept := w.name("kept")
	instance := "{apiVersion: servicecatalog.k8s.io/v1beta1, kind: ServiceInstance, metadata: {name: mydb}, spec: {serviceType: " + kept + "}}"
	given, stderr, err := w.Kubectl(t.Context(), instance, "-n", w.namespace, "create", "--dry-run=server", "-f", "-", "-o", "jsonpath={.spec.clusterServicePlanRef.name}")
	require.NoError(t, err, stderr)
	require.Equal(t, w.name("huge"), given, "what admission gives")

	both := rowsOf(w.svcat("get", "plans", "--default", "--cluster", "--type", kept))
	assert.Equal(t, [][]string{{kept + "*", "huge", kept, "x", "cluster"}}, both)
	assert.Equal(t, `no plans that stand for a type in namespace "`+w.namespace+`"`+"\n", w.svcat("get", "plans", "--default"), "the cluster is not shown, but counts")
	assert.Equal(t, kept, rowsOf(w.svcat("get", "plan", "small"))[0][0])
	assert.Equal(t, kept, rowsOf(w.svcat("get", "type", kept))[0][0])
	assert.Equal(t, `no types with a default plan in namespace "`+w.namespace+`"`+"\n", w.svcat("get", "types", "--default"))
	assert.Equal(t, "true", valueOf(w.svcat("describe", "plan", "small"), "Suggested:"))
	assert.Equal(t, kept, rowsOf(w.svcat("describe", "class", kept))[0][0])

	described := w.svcat("describe", "type", kept)
	assert.Equal(t, kept+"/huge (default of the cluster)", valueOf(described, "Gives:"))
	assert.Equal(t, [][]string{
		{kept + "/huge", w.name("huge"), "cluster", "chosen"},
		strings.Fields(kept + "/small small ns (" + w.namespace + ") only suggested"),
	}, rowsOf(described)[:2])
}

// TestClassesHideNoPlans: a namespace's class of the same name as the cluster's.
func TestClassesHideNoPlans(t *testing.T) {
	t.Parallel()
	w := newHidden(t)
	kept := w.name("kept")
	assert.Equal(t, "huge", rowsOf(w.svcat("get", "plan", kept+"/huge", "--scope", "all"))[0][1])
	assert.Equal(t, "huge", valueOf(w.svcat("describe", "plan", kept+"/huge"), "Name:"))
	assert.Equal(t, "huge", valueOf(w.svcat("describe", "plan", "huge", "--class", kept), "Name:"))
	assert.Equal(t, `error: no plan "hug" in class `+kept+` of namespace "`+w.namespace+`" or of the cluster; did you mean huge? plans: huge, small`+"\n",
		w.svcatFails(1, "get", "plan", kept+"/hug", "--scope", "all"))
	assert.Equal(t, `error: no plan "huge" in class `+kept+` of namespace "`+w.namespace+`"; plans: small`+"\n",
		w.svcatFails(1, "get", "plan", kept+"/huge"))
	assert.Equal(t, `error: no plan "smal" in class local of namespace "`+w.namespace+`"; did you mean small? plans: small`+"\n",
		w.svcatFails(1, "get", "plan", "--kube-name", "local/smal"))
	assert.Contains(t, w.svcatFails(1, "get", "class", "--kube-name", "loca"), "did you mean local? classes: local\n")
}
