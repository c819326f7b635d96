package svcat_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/defaultplan/defaultplan/api/v1beta1"
)

// explainSwitched is a type whose default is switched after an instance of it was
// decided.
func (e *testEnv) explainSwitched() {
	e.Helper()
	e.explainOffers(explainOffer{class: "azure", spec: "serviceType: mysql-SUFFIX, defaultProvisionParameters: {location: eastus, backup: daily}", plans: []explainPlan{
		{name: "premium", is: "default", spec: "defaultProvisionParameters: {storage: 50}"},
		{name: "basic", spec: "defaultProvisionParameters: {storage: 5}"},
	}})
	e.explainRecorded("mysql", "azure-premium", false)
	// kubectl apply would take the null away.
	e.explainCreate(explainObject("ServiceInstance", "mydb", "", "serviceType: mysql-SUFFIX, parameters: {location: westus, backup: null}"))
	e.golden("explain/stored-alike", e.explainTree("", "instance/mydb"))
	stdout, stderr, err := e.Stack.Kubectl(e.Context(), "", "patch", "clusterservicetype", e.Name("mysql"), "--type=merge",
		"-p", `{"spec":{"defaultPlanRef":{"name":"`+e.Name("azure-basic")+`"}}}`)
	require.NoError(e, err, stdout+stderr)
	// The keeper moves the annotation.
	e.Eventually(func() (bool, error) {
		return e.explainAnnotated("azure-basic") && !e.explainAnnotated("azure-premium"), nil
	})
}

// explainCreate is apply without what kubectl apply does to a manifest.
func (e *testEnv) explainCreate(manifest string) {
	e.Helper()
	stdout, stderr, err := e.Stack.Kubectl(e.Context(), e.explainNamed(manifest), "-n", e.Namespace, "create", "-f", "-")
	require.NoError(e, err, stdout+stderr)
}

// explainAnnotated says that a plan of the cluster is annotated as default.
func (e *testEnv) explainAnnotated(plan string) bool {
	e.Helper()
	object := &v1beta1.ClusterServicePlan{}
	object.Name = e.Name(plan)
	e.Get(object)
	return object.Annotations[v1beta1.AnnotationDefaultPlan] == "true"
}

// TestExplainAnInstanceThenAndNow: what was decided stands, what would be now is
// told beside it.
func TestExplainAnInstanceThenAndNow(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	e.explainSwitched()
	e.golden("explain/stored-switched", e.explainTree("", "instance/mydb"))
	told := e.explained("", "serviceinstance.servicecatalog.k8s.io/mydb")
	require.Len(t, told, 1)
	assert.Equal(t, "premium", told[0].Then.Plan.Plan)
	assert.Equal(t, "basic", told[0].Now.Plan.Plan)
	assert.Contains(t, told[0].Difference, "it was decided once")

	said := e.SvcatFails(1, "explain", "instance/mydbs")
	assert.Contains(t, said, `no instance "mydbs" in namespace "`+e.Namespace+`"; did you mean mydb? instances: mydb`)
	said = e.SvcatFails(1, "explain", "binding/mybd")
	assert.Contains(t, said, "there are no bindings")
}

// TestExplainAnUndecidedInstance: it says what the instance waits for.
func TestExplainAnUndecidedInstance(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	e.explainOffers(explainOffer{class: "azure", plans: []explainPlan{{name: "basic"}}})
	e.Apply(explainObject("ServiceInstance", "mydb", "", "clusterServiceClassExternalName: azure-SUFFIX, clusterServicePlanExternalName: premium"))
	e.golden("explain/stored-undecided", e.explainTree("", "instance/mydb"))
	told := e.explained("", "instance/mydb")
	assert.Nil(t, told[0].Then.Plan)
	assert.Equal(t, "waits", told[0].Now.Verdict)
	assert.Contains(t, told[0].Now.Waits, "the class has no such plan")
}

// TestExplainAClassOnlyInstance: admission wrote the plan's name, and the user never
// did: it is not what is asked for.
func TestExplainAClassOnlyInstance(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	e.explainOffers(explainOffer{class: "azure", plans: []explainPlan{{name: "basic", is: "suggested"}, {name: "premium"}}})
	e.Apply(explainObject("ServiceInstance", "mydb", "", "clusterServiceClassExternalName: azure-SUFFIX"))
	told := e.explained("", "instance/mydb")
	assert.Equal(t, map[string]string{"clusterServiceClassExternalName": e.Name("azure")}, told[0].Asks)
	assert.Equal(t, "class-suggested", told[0].Now.Rule)
	assert.Equal(t, "Created now it would be decided alike.", told[0].Difference)
}

// TestExplainAnInstanceWhosePlanIsGone: the plan that it has could not be chosen any
// more.
func TestExplainAnInstanceWhosePlanIsGone(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	e.explainOffers(explainOffer{class: "azure", plans: []explainPlan{{name: "basic"}}})
	e.Apply(explainObject("ServiceInstance", "mydb", "", "clusterServiceClassExternalName: azure-SUFFIX, clusterServicePlanExternalName: basic"))
	plan := &v1beta1.ClusterServicePlan{ObjectMeta: metav1.ObjectMeta{Name: e.Name("azure-basic")}}
	e.TakeAway(plan)
	e.Gone(plan)
	e.golden("explain/stored-plan-gone", e.explainTree("", "instance/mydb"))
}

// TestExplainABinding: its plan is its instance's, and each transform has a layer.
func TestExplainABinding(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	e.explainOffers(explainOffer{class: "azure", spec: "bindable: true, defaultBindParameters: {role: reader}, defaultSecretTransforms: [{renameKey: {from: host, to: DB_HOST}}, {addKey: {key: KIND, stringValue: hush}}]",
		plans: []explainPlan{{name: "basic", spec: "defaultBindParameters: {pool: 5}, defaultSecretTransforms: [{removeKey: {key: uri}}]"}}})
	e.Apply(explainObject("ServiceInstance", "mydb", "", "clusterServiceClassExternalName: azure-SUFFIX, clusterServicePlanExternalName: basic"))
	e.Apply(explainObject("ServiceBinding", "app", "", "instanceRef: {name: mydb}, parameters: {pool: 9}, secretTransforms: [{renameKey: {from: host, to: MYSQL_HOST}}, {addKey: {key: URL, jsonPathExpression: '{.host}'}}]"))
	tree := e.explainTree("", "binding/app")
	e.golden("explain/binding", tree)
	assert.NotContains(t, tree, "hush", "a value that a transform writes is not shown here")
	told := e.explained("", "binding/app")
	assert.Equal(t, told[0].Then.Transforms, told[0].Now.Transforms)
	assert.Equal(t, "Created now it would be decided alike.", told[0].Difference)

	orphan := explainObject("ServiceBinding", "lost", "", "instanceRef: {name: absent}")
	e.golden("explain/binding-waits", e.explainTree(orphan, "-f", "-"))

	adopted := explainObject("ServiceBinding", "adopted", "", "instanceRef: {name: mydb}, externalID: id-SUFFIX")
	assert.Empty(t, e.explained(adopted, "-f", "-")[0].Now.Transforms, "to a binding with an ID of its own nothing is added")

	e.Apply("{apiVersion: servicecatalog.k8s.io/v1beta1, kind: BindingPolicy, metadata: {name: nobinds-SUFFIX}, spec: {action: Deny, " +
		"message: 'bind elsewhere', subjects: [{instance: {namespace: " + e.Namespace + ", name: mydb}}]}}")
	e.golden("explain/binding-denied", e.explainTree("", "binding/app"))
}

// TestExplainARestoredInstance: what comes with its references is taken as decided,
// and what names nothing has nothing to choose again.
func TestExplainARestoredInstance(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	e.explainOffers(explainOffer{class: "azure", spec: "defaultProvisionParameters: {storage: 5}", plans: []explainPlan{{name: "basic"}, {name: "premium"}}})
	backup := explainObject("ServiceInstance", "mydb", "",
		"externalID: id-SUFFIX, clusterServiceClassRef: {name: azure-SUFFIX}, clusterServicePlanRef: {name: azure-premium-SUFFIX}, parameters: {size: 7}")
	told := e.explained(backup, "-f", "-")
	assert.Equal(t, "decided", told[0].Now.Verdict)
	assert.Equal(t, "premium", told[0].Now.Plan.Plan)
	assert.Equal(t, "restored", told[0].Now.Rule)
	require.Len(t, told[0].Now.Parameters, 1, "nothing is merged")
	assert.Equal(t, "user", told[0].Now.Parameters[0].From)
	assert.Equal(t, []string{"it comes with its references: admission takes it as decided, and chooses nothing"}, told[0].Notes)

	e.explainCreate(backup)
	told = e.explained("", "instance/mydb")
	assert.Equal(t, "restored", told[0].Then.Rule)
	assert.Nil(t, told[0].Now)
	e.golden("explain/stored-restored", e.explainTree("", "instance/mydb"))
}

// TestExplainWhatIsBeingDeleted: nothing is decided about it any more.
func TestExplainWhatIsBeingDeleted(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	e.explainOffers(explainOffer{class: "azure", plans: []explainPlan{{name: "basic"}}})
	e.Apply(explainObject("ServiceInstance", "mydb", "finalizers: [example.com/hold]", "clusterServiceClassExternalName: azure-SUFFIX"))
	stdout, stderr, err := e.Stack.Kubectl(e.Context(), "", "-n", e.Namespace, "delete", "serviceinstance", "mydb", "--wait=false")
	require.NoError(t, err, stdout+stderr)
	assert.Contains(t, e.Svcat("explain", "instance/mydb"), "note: it is being deleted: nothing is decided about it any more")
	stdout, stderr, err = e.Stack.Kubectl(e.Context(), "", "-n", e.Namespace, "patch", "serviceinstance", "mydb", "--type=merge", "-p", `{"metadata":{"finalizers":null}}`)
	require.NoError(t, err, stdout+stderr)
}
