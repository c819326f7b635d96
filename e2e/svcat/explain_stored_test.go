package svcat_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/defaultplan/defaultplan/api/v1beta1"
)

// explainSwitched is a type whose default is switched after an instance of it was
// decided.
func (w *world) explainSwitched() {
	w.Helper()
	w.explainOffers(explainOffer{class: "azure", spec: "serviceType: mysql-SUFFIX, defaultProvisionParameters: {location: eastus, backup: daily}", plans: []explainPlan{
		{name: "premium", is: "default", spec: "defaultProvisionParameters: {storage: 50}"},
		{name: "basic", spec: "defaultProvisionParameters: {storage: 5}"},
	}})
	w.explainRecorded("mysql", "azure-premium", false)
	// kubectl apply would take the null away.
	w.explainCreate(explainObject("ServiceInstance", "mydb", "", "serviceType: mysql-SUFFIX, parameters: {location: westus, backup: null}"))
	w.golden("explain/stored-alike", w.explainTree("", "instance/mydb"))
	stdout, stderr, err := w.Kubectl(w.Context(), "", "patch", "clusterservicetype", w.name("mysql"), "--type=merge",
		"-p", `{"spec":{"defaultPlanRef":{"name":"`+w.name("azure-basic")+`"}}}`)
	require.NoError(w, err, stdout+stderr)
	// The keeper moves the annotation.
	w.eventually(func() (bool, error) {
		return w.explainAnnotated("azure-basic") && !w.explainAnnotated("azure-premium"), nil
	})
}

// explainCreate is apply without what kubectl apply does to a manifest.
func (w *world) explainCreate(manifest string) {
	w.Helper()
	stdout, stderr, err := w.Kubectl(w.Context(), w.explainNamed(manifest), "-n", w.namespace, "create", "-f", "-")
	require.NoError(w, err, stdout+stderr)
}

// explainAnnotated says that a plan of the cluster is annotated as default.
func (w *world) explainAnnotated(plan string) bool {
	w.Helper()
	object := &v1beta1.ClusterServicePlan{}
	object.Name = w.name(plan)
	w.get(object)
	return object.Annotations[v1beta1.AnnotationDefaultPlan] == "true"
}

// TestExplainAnInstanceThenAndNow: what was decided stands, what would be now is
// told beside it.
func TestExplainAnInstanceThenAndNow(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.explainSwitched()
	w.golden("explain/stored-switched", w.explainTree("", "instance/mydb"))
	told := w.explained("", "serviceinstance.servicecatalog.k8s.io/mydb")
	require.Len(t, told, 1)
	assert.Equal(t, "premium", told[0].Then.Plan.Plan)
	assert.Equal(t, "basic", told[0].Now.Plan.Plan)
	assert.Contains(t, told[0].Difference, "it was decided once")

	said := w.svcatFails(1, "explain", "instance/mydbs")
	assert.Contains(t, said, `no instance "mydbs" in namespace "`+w.namespace+`"; did you mean mydb? instances: mydb`)
	said = w.svcatFails(1, "explain", "binding/mybd")
	assert.Contains(t, said, "there are no bindings")
}

// TestExplainAnUndecidedInstance: it says what the instance waits for.
func TestExplainAnUndecidedInstance(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.explainOffers(explainOffer{class: "azure", plans: []explainPlan{{name: "basic"}}})
	w.apply(explainObject("ServiceInstance", "mydb", "", "clusterServiceClassExternalName: azure-SUFFIX, clusterServicePlanExternalName: premium"))
	w.golden("explain/stored-undecided", w.explainTree("", "instance/mydb"))
	told := w.explained("", "instance/mydb")
	assert.Nil(t, told[0].Then.Plan)
	assert.Equal(t, "waits", told[0].Now.Verdict)
	assert.Contains(t, told[0].Now.Waits, "the class has no such plan")
}

// TestExplainAClassOnlyInstance: admission wrote the plan's name, and the user never
// did: it is not what is asked for.
func TestExplainAClassOnlyInstance(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.explainOffers(explainOffer{class: "azure", plans: []explainPlan{{name: "basic", is: "suggested"}, {name: "premium"}}})
	w.apply(explainObject("ServiceInstance", "mydb", "", "clusterServiceClassExternalName: azure-SUFFIX"))
	told := w.explained("", "instance/mydb")
	assert.Equal(t, map[string]string{"clusterServiceClassExternalName": w.name("azure")}, told[0].Asks)
	assert.Equal(t, "class-suggested", told[0].Now.Rule)
	assert.Equal(t, "Created now it would be decided alike.", told[0].Difference)
}

// TestExplainAnInstanceWhosePlanIsGone: the plan that it has could not be chosen any
// more.
func TestExplainAnInstanceWhosePlanIsGone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.explainOffers(explainOffer{class: "azure", plans: []explainPlan{{name: "basic"}}})
	w.apply(explainObject("ServiceInstance", "mydb", "", "clusterServiceClassExternalName: azure-SUFFIX, clusterServicePlanExternalName: basic"))
	stdout, stderr, err := w.Kubectl(w.Context(), "", "delete", "clusterserviceplan", w.name("azure-basic"))
	require.NoError(t, err, stdout+stderr)
	w.golden("explain/stored-plan-gone", w.explainTree("", "instance/mydb"))
}

// TestExplainABinding: its plan is its instance's, and each transform has a layer.
func TestExplainABinding(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.explainOffers(explainOffer{class: "azure", spec: "bindable: true, defaultBindParameters: {role: reader}, defaultSecretTransforms: [{renameKey: {from: host, to: DB_HOST}}, {addKey: {key: KIND, stringValue: hush}}]",
		plans: []explainPlan{{name: "basic", spec: "defaultBindParameters: {pool: 5}, defaultSecretTransforms: [{removeKey: {key: uri}}]"}}})
	w.apply(explainObject("ServiceInstance", "mydb", "", "clusterServiceClassExternalName: azure-SUFFIX, clusterServicePlanExternalName: basic"))
	w.apply(explainObject("ServiceBinding", "app", "", "instanceRef: {name: mydb}, parameters: {pool: 9}, secretTransforms: [{renameKey: {from: host, to: MYSQL_HOST}}, {addKey: {key: URL, jsonPathExpression: '{.host}'}}]"))
	tree := w.explainTree("", "binding/app")
	w.golden("explain/binding", tree)
	assert.NotContains(t, tree, "hush", "a value that a transform writes is nobody's to read here")
	told := w.explained("", "binding/app")
	assert.Equal(t, told[0].Then.Transforms, told[0].Now.Transforms)
	assert.Equal(t, "Created now it would be decided alike.", told[0].Difference)

	orphan := explainObject("ServiceBinding", "lost", "", "instanceRef: {name: nobody}")
	w.golden("explain/binding-waits", w.explainTree(orphan, "-f", "-"))

	adopted := explainObject("ServiceBinding", "adopted", "", "instanceRef: {name: mydb}, externalID: id-SUFFIX")
	assert.Empty(t, w.explained(adopted, "-f", "-")[0].Now.Transforms, "to a binding with an ID of its own nothing is added")

	w.apply("{apiVersion: servicecatalog.k8s.io/v1beta1, kind: BindingPolicy, metadata: {name: nobinds-SUFFIX}, spec: {action: Deny, " +
		"message: 'bind elsewhere', subjects: [{instance: {namespace: " + w.namespace + ", name: mydb}}]}}")
	w.golden("explain/binding-denied", w.explainTree("", "binding/app"))
}

// TestExplainARestoredInstance: what comes with its references is taken as decided,
// and what names nothing has nothing to choose again.
func TestExplainARestoredInstance(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.explainOffers(explainOffer{class: "azure", spec: "defaultProvisionParameters: {storage: 5}", plans: []explainPlan{{name: "basic"}, {name: "premium"}}})
	backup := explainObject("ServiceInstance", "mydb", "",
		"externalID: id-SUFFIX, clusterServiceClassRef: {name: azure-SUFFIX}, clusterServicePlanRef: {name: azure-premium-SUFFIX}, parameters: {size: 7}")
	told := w.explained(backup, "-f", "-")
	assert.Equal(t, "decided", told[0].Now.Verdict)
	assert.Equal(t, "premium", told[0].Now.Plan.Plan)
	assert.Equal(t, "restored", told[0].Now.Rule)
	require.Len(t, told[0].Now.Parameters, 1, "nothing is merged")
	assert.Equal(t, "user", told[0].Now.Parameters[0].From)
	assert.Equal(t, []string{"it comes with its references: admission takes it as decided, and chooses nothing"}, told[0].Notes)

	w.explainCreate(backup)
	told = w.explained("", "instance/mydb")
	assert.Equal(t, "restored", told[0].Then.Rule)
	assert.Nil(t, told[0].Now)
	w.golden("explain/stored-restored", w.explainTree("", "instance/mydb"))
}

// TestExplainWhatIsBeingDeleted: nothing is decided about it any more.
func TestExplainWhatIsBeingDeleted(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.explainOffers(explainOffer{class: "azure", plans: []explainPlan{{name: "basic"}}})
	w.apply(explainObject("ServiceInstance", "mydb", "finalizers: [example.com/hold]", "clusterServiceClassExternalName: azure-SUFFIX"))
	stdout, stderr, err := w.Kubectl(w.Context(), "", "-n", w.namespace, "delete", "serviceinstance", "mydb", "--wait=false")
	require.NoError(t, err, stdout+stderr)
	assert.Contains(t, w.svcat("explain", "instance/mydb"), "note: it is being deleted: nothing is decided about it any more")
	stdout, stderr, err = w.Kubectl(w.Context(), "", "-n", w.namespace, "patch", "serviceinstance", "mydb", "--type=merge", "-p", `{"metadata":{"finalizers":null}}`)
	require.NoError(t, err, stdout+stderr)
}
