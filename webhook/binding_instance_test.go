package webhook

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	admissionv1 "k8s.io/api/admission/v1"

	"github.com/defaultplan/defaultplan/api/v1beta1"
)

// What a binding is decided on is what its instance is, whatever the cache has seen of it.
func TestBindingToInstance(t *testing.T) {
	t.Parallel()
	checkBindings(t, bindingInstanceCases())
}

func bindingInstanceCases() map[string]bindingCase {
	const waits = "no plan is decided yet: instance \"mydb\" %s; the binding waits"
	const withoutPlan = "no plan is decided yet: instance \"mydb\" is of a plan that is gone; " +
		"the binding is made without the plan's defaults if the instance is provisioned, and waits else"
	nothing := func(string) []func(*stock) { return []func(*stock){} }
	bindable := func(broker string, class bool, plan *bool) func(at string) []func(*stock) {
		return func(at string) []func(*stock) {
			return []func(*stock){hasInstance("mydb", at+"db-small"), listedBy(broker, class), func(s *stock) { s.plan(at + "db-small").Bindable = plan }}
		}
	}
	yes, no := true, false
	return map[string]bindingCase{
		"Cached": {reason: "The cache knows the instance.", spec: toMydb, plan: "db-small"},
		"JustCreated": {
			reason: "The instance was stored a moment ago: the cache has not seen it.", spec: toMydb, behind: nothing, plan: "db-small",
		},
		"JustDecided": {
			reason: "The cache has seen it only before it was decided.", spec: toMydb, plan: "db-small",
			behind: func(string) []func(*stock) { return []func(*stock){hasInstance("mydb", "")} },
		},
		"JustReplaced": {
			reason: "The cache still shows the instance that was deleted, and there is another of its name.", spec: toMydb, plan: "db-large",
			edits:  func(at string) []func(*stock) { return []func(*stock){hasInstance("mydb", at+"db-large")} },
			behind: func(at string) []func(*stock) { return []func(*stock){hasInstance("mydb", at+"db-small", ending)} },
		},
		"JustDeleted": {
			reason: "A plan that the cache has lost and the API server has is a plan.", spec: toMydb, plan: "db-small",
			behind: func(at string) []func(*stock) {
				return []func(*stock){uncatalogued, hasInstance("mydb", at+"db-small")}
			},
		},
		"Absent":    {reason: "The instance may come later.", spec: toMydb, edits: nothing, warnings: []string{fmt.Sprintf(waits, "does not exist yet")}},
		"Undecided": {reason: "Or its plan.", spec: toMydb, edits: func(string) []func(*stock) { return []func(*stock){hasInstance("mydb", "")} }, warnings: []string{fmt.Sprintf(waits, "has no plan yet")}},
		"PlanGone": {
			reason: "A plan object that is gone gives no defaults and no answers.", spec: toMydb, warnings: []string{withoutPlan},
			edits: func(at string) []func(*stock) {
				return []func(*stock){uncatalogued, hasInstance("mydb", at+"db-small")}
			},
		},
		"PlanRemoved": {
			reason: "A plan that its broker offers no more is that of its instances still.", spec: toMydb, plan: "db-small",
			edits: func(at string) []func(*stock) {
				return []func(*stock){removed("db-small"), removed("db"), hasInstance("mydb", at+"db-small")}
			},
		},
		"AskedTooOften": {reason: "However often one asks.", spec: toMydb, behind: nothing, adjust: exhaust, plan: "db-small"},
		"Deleting": {
			reason: "An instance that is being deleted takes no binding.", spec: toMydb, denied: "InstanceDeleting",
			edits: func(at string) []func(*stock) { return []func(*stock){hasInstance("mydb", at+"db-small", ending)} },
		},
		"DeletingUndecided": {
			reason: "Nor does one that was never decided.", spec: toMydb, denied: "InstanceDeleting",
			edits: func(string) []func(*stock) { return []func(*stock){hasInstance("mydb", "", ending)} },
		},
		"DeletingAskedTooOften": {
			reason: "Over the limit the refusal says that it is the cache's.", spec: toMydb, denied: "InstanceDeleting", adjust: exhaust,
			edits: func(at string) []func(*stock) { return []func(*stock){hasInstance("mydb", at+"db-small", ending)} },
		},
		"JustBindable": {
			reason: "Before it is refused, the API server is asked.", spec: toMydb, edits: bindable("broker", true, nil), behind: bindable("broker", false, nil), plan: "db-small",
		},
		"ClassNotBindable":    {reason: "The class says that it cannot be bound to.", spec: toMydb, edits: bindable("broker", false, nil), denied: "NotBindable"},
		"ClassBindable":       {reason: "Or that it can.", spec: toMydb, edits: bindable("broker", true, nil), plan: "db-small"},
		"PlanNotBindable":     {reason: "The plan has the last word.", spec: toMydb, edits: bindable("broker", true, &no), denied: "NotBindable"},
		"PlanBindable":        {reason: "In both directions.", spec: toMydb, edits: bindable("broker", false, &yes), plan: "db-small"},
		"PartialClass":        {reason: "A class that no broker has listed does not say.", spec: toMydb, edits: bindable("", false, nil), plan: "db-small"},
		"PartialClassAndPlan": {reason: "Its plan may.", spec: toMydb, edits: bindable("", false, &no), denied: "NotBindable"},
	}
}

// listedBy is what a broker says of every class, "" where none has listed it.
func listedBy(broker string, bindable bool) func(*stock) {
	return func(s *stock) {
		for _, object := range s.objects {
			switch class := object.(type) {
			case *v1beta1.ClusterServiceClass:
				class.Spec.ClusterServiceBrokerName, class.Spec.Bindable = broker, bindable
			case *v1beta1.ServiceClass:
				class.Spec.ServiceBrokerName, class.Spec.Bindable = broker, bindable
			}
		}
	}
}

// What a binding says of its type, class and plan describes its instance.
func TestBindingDescribesItsInstance(t *testing.T) {
	t.Parallel()
	checkBindings(t, bindingDescriptionCases())
}

func bindingDescriptionCases() map[string]bindingCase {
	mysql := func(at string) []func(*stock) {
		return []func(*stock){hasInstance("mydb", at+"db-small", typed("mysql"))}
	}
	with := func(members string) string { return `{"instanceRef":{"name":"mydb"},` + members + `}` }
	return map[string]bindingCase{
		"TypeFilled":     {reason: "The instance's type is filled in.", edits: mysql, spec: toMydb, plan: "db-small", want: `{"serviceType":"mysql"}`},
		"TypeNotFilled":  {reason: "An instance that was asked for by name has none.", spec: toMydb, plan: "db-small"},
		"TypeAgrees":     {reason: "The same type may be written.", edits: mysql, spec: with(`"serviceType":"mysql"`), plan: "db-small"},
		"TypeOfThePlan":  {reason: "Also where only the plan has it.", spec: with(`"serviceType":"mysql"`), plan: "db-small"},
		"OtherType":      {reason: "Another is refused.", edits: mysql, spec: with(`"serviceType":"redis"`), denied: "TypeMismatch"},
		"OtherThanPlans": {reason: "Also where only the plan has one.", spec: with(`"serviceType":"redis"`), denied: "TypeMismatch"},
		"NoType": {
			reason: "Where no one has a type, any may be written.", catalog: "db: small", spec: with(`"serviceType":"redis"`), plan: "db-small",
		},
		"OtherTypeOfUndecided": {
			reason: "What is not decided yet cannot disagree.", spec: with(`"serviceType":"redis"`),
			edits:    func(string) []func(*stock) { return []func(*stock){hasInstance("mydb", "", typed("mysql"))} },
			warnings: []string{`no plan is decided yet: instance "mydb" has no plan yet; the binding waits`},
		},
		"NamesAgree":  {reason: "Class and plan may be named.", spec: with(`"clusterServiceClassExternalName":"db","clusterServicePlanName":"db-small"`), plan: "db-small"},
		"OtherPlan":   {reason: "Others are refused.", spec: with(`"clusterServiceClassExternalName":"db","clusterServicePlanExternalName":"large"`), denied: "Disagreement"},
		"OtherClass":  {reason: "Of either kind.", spec: with(`"clusterServiceClassExternalID":"id-other"`), denied: "Disagreement"},
		"OtherScope":  {reason: "And of the other scope.", spec: with(`"serviceClassExternalName":"db"`), denied: "Disagreement", scope: onlyCluster},
		"TwoOfAClass": {reason: "Names that contradict each other are refused.", spec: with(`"clusterServiceClassExternalName":"db","clusterServiceClassName":"db"`), denied: "InvalidReference"},
	}
}

// What a binding cannot have yet is refused, and says so.
// What is for an instance of a binding's own has no place beside one that is named.
func TestBindingShape(t *testing.T) {
	t.Parallel()
	checkBindings(t, bindingShapeCases())
}

func bindingShapeCases() map[string]bindingCase {
	with := func(members string) string { return `{"instanceRef":{"name":"mydb"},` + members + `}` }
	return map[string]bindingCase{
		"NothingAtAll":        {reason: "Nothing is no instance.", spec: `{}`, denied: "NoInstance", scope: onlyCluster},
		"NullInstance":        {reason: "Nor is null.", spec: `{"instanceRef":null}`, denied: "NoInstance", scope: onlyCluster},
		"OwnNamespace":        {reason: "The binding's own namespace may be written.", spec: `{"instanceRef":{"name":"mydb","namespace":"dev"}}`, plan: "db-small"},
		"ProvisionParameters": {reason: "They would be lost.", spec: with(`"provisionParameters":{"size":"` + canary + `"}`), denied: "NotDedicated", scope: onlyCluster},
		"NoParameters":        {reason: "A typed client's null is nothing.", spec: with(`"provisionParameters":null,"planSelector":null,"serviceName":""`), plan: "db-small"},
		"Selector":            {reason: "So would a selector.", spec: with(`"planSelector":{"matchLabels":{"a":"b"}}`), denied: "NotDedicated", scope: onlyCluster},
	}
}

// An instance is read live: it may have been created just now. Its plan is, where the cache cannot answer.
func TestBindingReads(t *testing.T) {
	t.Parallel()
	w := stocked(t, db, bindDefaultsOf("db-small", `{"user":"reader"}`), hasInstance("mydb", "db-small")).env()
	w.clock.SetTime(founded.Add(time.Second))
	w.bindTo(toMydb).admitted()
	instance, plan := []string{"get ServiceInstance dev/mydb"}, []string{"get ClusterServicePlan /db-small", "get ClusterServiceClass /db"}
	assert.Equal(t, instance, w.live.taken(), "the instance for both phases; the rest is in the cache")
	w.cached.show(stocked(t, "other:"))
	w.bindTo(toMydb).admitted()
	assert.Equal(t, slices.Concat(instance, plan, plan), w.live.taken(), "the plan for each phase")
}

// TestBindingReadsAgain: the validating phase takes the instance that the mutating phase of the same
// request read a moment before, and reads it again in any other case.
func TestBindingReadsAgain(t *testing.T) {
	t.Parallel()
	const id = `"externalID":"00000000-0000-4000-8000-000000000001"`
	for name, tc := range map[string]struct {
		reason string
		spec   string
		// between is done between the phases.
		between func(*env, *admissionv1.AdmissionReview)
		reads   bool
	}{
		"AtOnce": {reason: "It was read for this request.", between: func(*env, *admissionv1.AdmissionReview) {}},
		"AfterASecond": {reason: "It may have changed.", reads: true, between: func(w *env, _ *admissionv1.AdmissionReview) {
			w.clock.SetTime(w.clock.Now().Add(time.Second + 1))
		}},
		"Again": {reason: "An external ID is used once.", reads: true, between: func(w *env, review *admissionv1.AdmissionReview) {
			w.ask("/validate/servicebindings", review)
		}},
		"OtherInstance": {reason: "Another hook changed the binding.", reads: true, between: func(_ *env, review *admissionv1.AdmissionReview) {
			review.Request.Object.Raw = bytes.ReplaceAll(review.Request.Object.Raw, []byte(`"name":"mydb"`), []byte(`"name":"other"`))
		}},
		"OwnID":          {reason: "Who gives the ID may have given it before.", spec: `{"instanceRef":{"name":"mydb"},` + id + `}`, reads: true, between: func(*env, *admissionv1.AdmissionReview) {}},
		"OtherNamespace": {reason: "Whether an instance is shared is read for each phase.", spec: toShared, reads: true, between: func(*env, *admissionv1.AdmissionReview) {}},
		"ManyLabels":     {reason: "What is kept is bounded.", spec: `{"instanceRef":{"name":"labelled"}}`, reads: true, between: func(*env, *admissionv1.AdmissionReview) {}},
		"AnotherReplica": {reason: "It did not read.", reads: true, between: func(w *env, _ *admissionv1.AdmissionReview) {
			w.mux = http.NewServeMux()
			serveBindings(w, w.shared, w.clock)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := stocked(t, db, hasInstance("mydb", "db-small"), hasInstance("other", "db-small"), hasInstance("labelled", "db-small", func(i *v1beta1.ServiceInstance) {
				i.Labels = map[string]string{}
				for n := range 65 {
					i.Labels[fmt.Sprint("l", n)] = ""
				}
			}), elsewhere("db-small", withDev()), hasNamespace("dev", "team", "a")).env()
			w.reviews.granted = []string{aliceBinds}
			review := w.review(bindingOf(cmp.Or(tc.spec, toMydb)), nil)
			mutated := w.ask("/mutate/servicebindings", review)
			require.True(t, mutated.Allowed, "%v", mutated.Result)
			review = w.review(mutated.patched, nil)
			tc.between(w, review)
			w.live.taken()
			validated := w.ask("/validate/servicebindings", review)
			require.True(t, validated.Allowed, "%v", validated.Result)
			read := slices.ContainsFunc(w.live.taken(), func(read string) bool { return strings.HasPrefix(read, "get ServiceInstance ") })
			assert.Equal(t, tc.reads, read, tc.reason)
		})
	}
}

// What cannot be read is a failure of ours, never a refusal and never "not there".
func TestBindingReadsFail(t *testing.T) {
	t.Parallel()
	settled := stocked(t, db, hasInstance("mydb", "db-small")).env().bindTo(toMydb).admitted()
	for name, tc := range map[string]struct {
		path, read string
		object     []byte
		live       bool
	}{
		"Instance":        {path: MutateBindings, read: "get ServiceInstance dev/mydb", object: bindingOf(toMydb), live: true},
		"JudgedInstance":  {path: ValidateBindings, read: "get ServiceInstance dev/mydb", object: settled, live: true},
		"Plan":            {path: MutateBindings, read: "get ClusterServicePlan /db-small", object: bindingOf(toMydb)},
		"Others":          {path: ValidateBindings, read: "list ServiceBindingList defaultplan/secret-name=creds", object: settled},
		"ReferencedPlan":  {path: MutateBindings, read: "get ClusterServicePlan /db-small", object: bindingOf(`{"instanceRef":{"name":"mydb"},"externalID":"e-1",` + bindRefs + `}`)},
		"LiveClassAndAll": {path: ValidateBindings, read: "get ClusterServiceClass /db", object: settled, live: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			live := stocked(t, db, hasInstance("mydb", "db-small"))
			w := live.env()
			broken := w.cached
			if tc.live {
				w.cached.show(stocked(t, "other:"))
				broken = w.live
			}
			broken.fail(func(read string) error {
				if read == tc.read {
					return assert.AnError
				}
				return nil
			})
			body, err := json.Marshal(w.review(tc.object, nil))
			require.NoError(t, err)
			recorder := w.post(tc.path, body)
			assert.Equal(t, http.StatusInternalServerError, recorder.Code, recorder.Body.String())
		})
	}
}
