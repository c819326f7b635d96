package admission_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/e2e/env"
	"github.com/defaultplan/defaultplan/e2e/golden"
	"github.com/defaultplan/defaultplan/e2e/offering"
)

// TestPlansAreFoundByField: the query of split-plans-from-service-classes.md, that
// no release ever answered; also for a plan that does not say whether it is free.
func TestPlansAreFoundByField(t *testing.T) {
	t.Parallel()
	e := env.New(t)
	c := e.Name("c")
	e.AddPlans(env.Class{Name: c}, env.Plan{Name: e.Name("paid"), ServiceType: e.Name("db")})
	e.AddPlans(env.Class{Name: e.Name("other")}, env.Plan{Name: e.Name("elsewhere")})
	for name, free := range map[string]string{"silent": "", "gratis": ", free: true", "null": ", free: null"} {
		e.Kubectl(fmt.Sprintf("apiVersion: servicecatalog.k8s.io/v1beta1\nkind: ClusterServicePlan\nmetadata: {name: %s}\nspec: {externalID: x, clusterServiceClassRef: {name: %s}%s}\n",
			e.Name(name), c, free), "apply", "-f", "-")
	}
	for selector, want := range map[string][]string{
		"spec.free=false,spec.clusterServiceClassRef.name=" + c:       {"null", "paid", "silent"},
		"spec.free=true,spec.clusterServiceClassRef.name=" + c:        {"gratis"},
		"spec.serviceType=" + e.Name("db"):                            {"paid"},
		"spec.externalName=" + e.Name("elsewhere"):                    {"elsewhere"},
		"spec.clusterServiceBrokerName=broker,spec.externalName=none": nil,
	} {
		var names []string
		for name := range strings.FieldsSeq(e.Kubectl("", "get", "clusterserviceplans", "--field-selector", selector, "-o", "name")) {
			if name != "No" && strings.Contains(name, "/") {
				names = append(names, e.Normal(strings.TrimPrefix(name, "clusterserviceplan.servicecatalog.k8s.io/")))
			}
		}
		assert.Equal(t, want, names, selector)
	}
}

// TestWhatKubectlGetShows: the columns of each kind are those a person needs, and
// are filled from the moment of creation; those of a type, by the keeper, and the names of an
// instance's class and plan, by the controller, for which this writes some.
func TestWhatKubectlGetShows(t *testing.T) {
	t.Parallel()
	e := env.New(t)
	e.AddPlans(env.Class{Name: e.Name("azure"), ServiceType: e.Name("db")}, env.Plan{Name: e.Name("basic"), ServiceType: e.Name("db"), Default: true, Weight: 7})
	e.AddPlans(env.Class{Namespace: e.Namespace, Name: e.Name("local"), ServiceType: e.Name("cache")}, env.Plan{Name: e.Name("tiny"), Suggested: true})
	e.Create(env.TypeWithDefault("", e.Name("db"), e.Name("basic")), env.TypeWithDefault(e.Namespace, e.Name("cache"), e.Name("tiny")))
	e.Kubectl(e.Manifest("mydb", "{serviceType: NAME(db)}"), "apply", "-f", "-")
	e.Kubectl(e.Manifest("mycache", "{serviceType: NAME(cache)}"), "apply", "-f", "-")
	e.Kubectl(e.Manifest("named", "{clusterServiceClassExternalName: NAME(azure), clusterServicePlanExternalName: NAME(basic)}"), "apply", "-f", "-")
	e.Kubectl("", "patch", "serviceinstance", "named", "--subresource=status", "--type=merge", "-p", `{"status":{"serviceType":"`+e.Name("db")+`","userSpecifiedClassName":"azure-db","userSpecifiedPlanName":"basic-b1"}}`)
	e.Kubectl("", "annotate", "clusterserviceplan", e.Name("basic"), api.AnnotationClassName+"=azure-db")
	storeBrokersAndBinding(e)
	untilKept(e, env.TypeWithDefault("", e.Name("db"), ""))
	untilKept(e, env.TypeWithDefault(e.Namespace, e.Name("cache"), ""))
	named := map[string][]string{
		"clusterserviceclasses": {e.Name("azure")}, "clusterserviceplans": {e.Name("basic")},
		"clusterservicetypes": {e.Name("db")}, "clusterservicebrokers": {e.Name("broker")},
	}
	var shown strings.Builder
	for _, resource := range []string{
		"clusterservicebrokers", "servicebrokers", "clusterserviceclasses", "serviceclasses", "clusterserviceplans", "serviceplans",
		"clusterservicetypes", "servicetypes", "serviceinstances", "servicebindings",
	} {
		for _, wide := range [][]string{nil, {"-o", "wide"}} {
			args := append(append([]string{"get", resource}, named[resource]...), wide...)
			fmt.Fprintf(&shown, "$ kubectl %s\n", e.Normal(strings.Join(args, " ")))
			shown.WriteString(table(e, e.Kubectl("", args...)))
		}
	}
	golden.Match(e, "kubectl-get", shown.String())
	ofPlan := e.Kubectl("", "get", "serviceinstances", "--field-selector", api.FieldStatusServiceType+"="+e.Name("db"), "-o", "name")
	assert.Equal(t, "serviceinstance.servicecatalog.k8s.io/named", strings.TrimSpace(ofPlan))
	for _, kind := range []string{"clusterserviceplan", "serviceplan", "serviceinstance", "servicetype", "servicebroker", "servicebinding"} {
		assert.Contains(t, e.Kubectl("", "get", "svcat"), kind+".servicecatalog.k8s.io/", "the category")
	}
}

// untilKept waits until the keeper has looked at a type's record as it is: it has
// confirmed it.
func untilKept(e *env.Env, serviceType client.Object) {
	e.Helper()
	e.Eventually(func() (bool, error) {
		err := e.Client().Get(e.Context(), client.ObjectKeyFromObject(serviceType), serviceType)
		return err == nil && offering.Catalogue{"": serviceType}.Confirmed(serviceType.GetName()), err
	})
}

// heading is a column's name with the space up to the next one.
var heading = regexp.MustCompile(`\S+\s*`)

// table is a table of kubectl without what differs from run to run: ages, names
// of the test, and with them the columns' widths.
func table(e *env.Env, text string) string {
	head, _, _ := strings.Cut(text, "\n")
	starts := heading.FindAllStringIndex(head, -1)
	var rows strings.Builder
	for line := range strings.Lines(text) {
		var cells []string
		for i, at := range starts {
			end := at[1]
			if i == len(starts)-1 {
				end = len(line)
			}
			cell := strings.TrimSpace(line[min(at[0], len(line)):min(end, len(line))])
			if age.MatchString(cell) {
				cell = "AGO"
			}
			cells = append(cells, e.Normal(cell))
		}
		rows.WriteString(strings.Join(cells, " | ") + "\n")
	}
	return rows.String()
}

// storeBrokersAndBinding stores an object of each kind that no builder makes.
func storeBrokersAndBinding(e *env.Env) {
	e.Helper()
	for _, manifest := range []string{
		"kind: ClusterServiceBroker\nmetadata: {name: %[1]s}\nspec: {url: https://broker.example}",
		"kind: ServiceBroker\nmetadata: {name: mybroker}\nspec: {url: https://broker.example}",
		"kind: ServiceBinding\nmetadata: {name: mybinding}\nspec: {instanceRef: {name: mydb}, secretName: credentials}",
	} {
		if strings.Contains(manifest, "%") {
			manifest = fmt.Sprintf(manifest, e.Name("broker"))
		}
		e.Kubectl("apiVersion: servicecatalog.k8s.io/v1beta1\n"+manifest, "apply", "-f", "-")
	}
}

// TestWhatIsNewIsNotCurrent: a client that waits for a status (kstatus, helm
// --wait) must not take a new object for one that is done.
func TestWhatIsNewIsNotCurrent(t *testing.T) {
	t.Parallel()
	e := env.New(t)
	created := map[string]func() *unstructured.Unstructured{}
	for kind, name := range map[string]string{
		"ServiceInstance": "mydb", "ServiceBroker": "mybroker", "ServiceBinding": "mybinding", "ServiceType": e.Name("db"),
		"ClusterServiceBroker": e.Name("broker"), "ClusterServiceType": e.Name("db"),
	} {
		created[kind] = asCreated(e, kind, name)
	}
	e.AddPlans(env.Class{Name: e.Name("c"), ServiceType: e.Name("db")}, env.Plan{Name: e.Name("p"), Default: true})
	e.AddPlans(env.Class{Namespace: e.Namespace, Name: e.Name("c"), ServiceType: e.Name("db")}, env.Plan{Name: e.Name("p")})
	e.Create(env.TypeWithDefault("", e.Name("db"), e.Name("p")), env.TypeWithDefault(e.Namespace, e.Name("db"), e.Name("p")))
	e.CreateInstance("mydb", env.OfType(e.Name("db")))
	storeBrokersAndBinding(e)
	for kind, first := range created {
		object := first()
		observed, found, err := unstructured.NestedInt64(object.Object, "status", "observedGeneration")
		require.NoError(t, err, kind)
		assert.True(t, found, kind)
		assert.Equal(t, int64(-1), observed, kind)
	}
}

// asCreated watches for an object that is yet to come, and returns what waits until
// it does: then it is as clients that wait for its status first see it. That of a
// type is soon written.
func asCreated(e *env.Env, kind, name string) func() *unstructured.Unstructured {
	e.Helper()
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(api.GroupVersion.WithKind(kind + "List"))
	at := []client.ListOption{client.MatchingFields{"metadata.name": name}}
	if !strings.HasPrefix(kind, "Cluster") {
		at = append(at, client.InNamespace(e.Namespace))
	}
	seen, err := e.Client().Watch(e.Context(), list, at...)
	require.NoError(e, err, kind)
	e.Cleanup(seen.Stop)
	return func() *unstructured.Unstructured {
		event := <-seen.ResultChan()
		object, is := event.Object.(*unstructured.Unstructured)
		require.True(e, is && event.Type == watch.Added && object.GetName() == name, "%s: %v", kind, event)
		return object
	}
}

// TestParametersAreKeptWhole: the schema knows nothing of parameters and takes
// nothing from them; elsewhere, what it does not know is pruned, with a warning.
func TestParametersAreKeptWhole(t *testing.T) {
	t.Parallel()
	e := env.New(t)
	e.AddPlans(env.Class{Name: e.Name("c")}, env.Plan{Name: e.Name("p")})
	parameters := `{"unknown":{"a/b":[{"~":null}],"":{}},"big":9007199254740993,"e":1.50}`
	said := e.Kubectl(e.Manifest("mydb", "{clusterServiceClassName: NAME(c), parameters: "+parameters+", novelty: 1}"), "create", "--validate=warn", "-f", "-")
	assert.Contains(t, said, `unknown field "spec.novelty"`)
	stored := e.Stored("mydb")
	assert.JSONEq(t, parameters, env.ParametersOf(stored))
	assert.Contains(t, env.ParametersOf(stored), "9007199254740993", "to the last digit")
	assert.NotContains(t, e.Kubectl("", "get", "serviceinstance", "mydb", "-o", "yaml"), "novelty")
}

// age is how long ago, as kubectl writes it.
var age = regexp.MustCompile(`^([0-9]+[dhms])+$`)
