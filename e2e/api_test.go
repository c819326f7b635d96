package e2e_test

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
)

// TestPlansAreFoundByField: the query of split-plans-from-service-classes.md, that
// no release ever answered; also for a plan that does not say whether it is free.
func TestPlansAreFoundByField(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c := w.name("c")
	w.addPlans(class{name: c}, plan{name: w.name("paid"), serviceType: w.name("db")})
	w.addPlans(class{name: w.name("other")}, plan{name: w.name("elsewhere")})
	for name, free := range map[string]string{"silent": "", "gratis": ", free: true", "null": ", free: null"} {
		w.kubectl(fmt.Sprintf("apiVersion: servicecatalog.k8s.io/v1beta1\nkind: ClusterServicePlan\nmetadata: {name: %s}\nspec: {externalID: x, clusterServiceClassRef: {name: %s}%s}\n",
			w.name(name), c, free), "apply", "-f", "-")
	}
	for selector, want := range map[string][]string{
		"spec.free=false,spec.clusterServiceClassRef.name=" + c:       {"null", "paid", "silent"},
		"spec.free=true,spec.clusterServiceClassRef.name=" + c:        {"gratis"},
		"spec.serviceType=" + w.name("db"):                            {"paid"},
		"spec.externalName=" + w.name("elsewhere"):                    {"elsewhere"},
		"spec.clusterServiceBrokerName=broker,spec.externalName=none": nil,
	} {
		var names []string
		for name := range strings.FieldsSeq(w.kubectl("", "get", "clusterserviceplans", "--field-selector", selector, "-o", "name")) {
			if name != "No" && strings.Contains(name, "/") {
				names = append(names, w.normal(strings.TrimPrefix(name, "clusterserviceplan.servicecatalog.k8s.io/")))
			}
		}
		assert.Equal(t, want, names, selector)
	}
}

// TestWhatKubectlGetShows: the columns of each kind are those a person needs, and
// are filled from the moment of creation; those of a type, by the keeper.
func TestWhatKubectlGetShows(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.addPlans(class{name: w.name("azure"), serviceType: w.name("db")}, plan{name: w.name("basic"), serviceType: w.name("db"), isDefault: true, weight: 7})
	w.addPlans(class{namespace: w.namespace, name: w.name("local"), serviceType: w.name("cache")}, plan{name: w.name("tiny"), isSuggested: true})
	w.create(record("", w.name("db"), w.name("basic")), record(w.namespace, w.name("cache"), w.name("tiny")))
	w.kubectl(w.manifest("mydb", "{serviceType: NAME(db)}"), "apply", "-f", "-")
	w.kubectl(w.manifest("mycache", "{serviceType: NAME(cache)}"), "apply", "-f", "-")
	w.storeBrokersAndBinding()
	w.untilKept(record("", w.name("db"), ""))
	w.untilKept(record(w.namespace, w.name("cache"), ""))
	named := map[string][]string{
		"clusterserviceclasses": {w.name("azure")}, "clusterserviceplans": {w.name("basic")},
		"clusterservicetypes": {w.name("db")}, "clusterservicebrokers": {w.name("broker")},
	}
	var shown strings.Builder
	for _, resource := range []string{
		"clusterservicebrokers", "servicebrokers", "clusterserviceclasses", "serviceclasses", "clusterserviceplans", "serviceplans",
		"clusterservicetypes", "servicetypes", "serviceinstances", "servicebindings",
	} {
		for _, wide := range [][]string{nil, {"-o", "wide"}} {
			args := append(append([]string{"get", resource}, named[resource]...), wide...)
			fmt.Fprintf(&shown, "$ kubectl %s\n", w.normal(strings.Join(args, " ")))
			shown.WriteString(w.table(w.kubectl("", args...)))
		}
	}
	w.golden("kubectl-get", shown.String())
	for _, kind := range []string{"clusterserviceplan", "serviceplan", "serviceinstance", "servicetype", "servicebroker", "servicebinding"} {
		assert.Contains(t, w.kubectl("", "get", "svcat"), kind+".servicecatalog.k8s.io/", "the category")
	}
}

// untilKept waits until the keeper has looked at a type's record as it is: it has
// confirmed it.
func (w *world) untilKept(serviceType client.Object) {
	w.Helper()
	w.eventually(func() (bool, error) {
		err := w.client.Get(w.Context(), client.ObjectKeyFromObject(serviceType), serviceType)
		return err == nil && catalogue{"": serviceType}.confirmed(serviceType.GetName()), err
	})
}

// heading is a column's name with the space up to the next one.
var heading = regexp.MustCompile(`\S+\s*`)

// table is a table of kubectl without what differs from run to run: ages, names
// of the world, and with them the columns' widths.
func (w *world) table(text string) string {
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
			cells = append(cells, w.normal(cell))
		}
		rows.WriteString(strings.Join(cells, " | ") + "\n")
	}
	return rows.String()
}

// storeBrokersAndBinding stores an object of each kind that no builder makes.
func (w *world) storeBrokersAndBinding() {
	w.Helper()
	for _, manifest := range []string{
		"kind: ClusterServiceBroker\nmetadata: {name: %[1]s}\nspec: {url: https://broker.example}",
		"kind: ServiceBroker\nmetadata: {name: mybroker}\nspec: {url: https://broker.example}",
		"kind: ServiceBinding\nmetadata: {name: mybinding}\nspec: {instanceRef: {name: mydb}, secretName: credentials}",
	} {
		if strings.Contains(manifest, "%") {
			manifest = fmt.Sprintf(manifest, w.name("broker"))
		}
		w.kubectl("apiVersion: servicecatalog.k8s.io/v1beta1\n"+manifest, "apply", "-f", "-")
	}
}

// TestWhatIsNewIsNotCurrent: whoever waits for a status (kstatus, helm --wait)
// must not take a new object for one that is done.
func TestWhatIsNewIsNotCurrent(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	created := map[string]func() *unstructured.Unstructured{}
	for kind, name := range map[string]string{
		"ServiceInstance": "mydb", "ServiceBroker": "mybroker", "ServiceBinding": "mybinding", "ServiceType": w.name("db"),
		"ClusterServiceBroker": w.name("broker"), "ClusterServiceType": w.name("db"),
	} {
		created[kind] = w.asCreated(kind, name)
	}
	w.addPlans(class{name: w.name("c"), serviceType: w.name("db")}, plan{name: w.name("p"), isDefault: true})
	w.addPlans(class{namespace: w.namespace, name: w.name("c"), serviceType: w.name("db")}, plan{name: w.name("p")})
	w.create(record("", w.name("db"), w.name("p")), record(w.namespace, w.name("db"), w.name("p")))
	w.createInstance("mydb", ofType(w.name("db")))
	w.storeBrokersAndBinding()
	for kind, first := range created {
		object := first()
		observed, found, err := unstructured.NestedInt64(object.Object, "status", "observedGeneration")
		require.NoError(t, err, kind)
		assert.True(t, found, kind)
		assert.Equal(t, int64(-1), observed, kind)
	}
}

// asCreated watches for an object that is yet to come, and returns what waits until
// it does: then it is as whoever waits for its status first sees it. That of a type
// is soon written.
func (w *world) asCreated(kind, name string) func() *unstructured.Unstructured {
	w.Helper()
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(api.GroupVersion.WithKind(kind + "List"))
	at := []client.ListOption{client.MatchingFields{"metadata.name": name}}
	if !strings.HasPrefix(kind, "Cluster") {
		at = append(at, client.InNamespace(w.namespace))
	}
	seen, err := w.client.Watch(w.Context(), list, at...)
	require.NoError(w, err, kind)
	w.Cleanup(seen.Stop)
	return func() *unstructured.Unstructured {
		event := <-seen.ResultChan()
		object, is := event.Object.(*unstructured.Unstructured)
		require.True(w, is && event.Type == watch.Added && object.GetName() == name, "%s: %v", kind, event)
		return object
	}
}

// TestParametersAreKeptWhole: the schema knows nothing of parameters and takes
// nothing from them; elsewhere, what it does not know is pruned, with a warning.
func TestParametersAreKeptWhole(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.addPlans(class{name: w.name("c")}, plan{name: w.name("p")})
	parameters := `{"unknown":{"a/b":[{"~":null}],"":{}},"big":9007199254740993,"e":1.50}`
	said := w.kubectl(w.manifest("mydb", "{clusterServiceClassName: NAME(c), parameters: "+parameters+", novelty: 1}"), "create", "--validate=warn", "-f", "-")
	assert.Contains(t, said, `unknown field "spec.novelty"`)
	stored := w.stored("mydb")
	assert.JSONEq(t, parameters, parametersOf(stored))
	assert.Contains(t, parametersOf(stored), "9007199254740993", "to the last digit")
	assert.NotContains(t, w.kubectl("", "get", "serviceinstance", "mydb", "-o", "yaml"), "novelty")
}
