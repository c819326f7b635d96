package webhook

import (
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/defaultplan/defaultplan/api/v1beta1"
)

const (
	// toShared is the spec of a binding to an instance of another namespace.
	toShared = `{"instanceRef":{"name":"mydb","namespace":"infra"}}`
	// aliceBinds is the right that it takes.
	aliceBinds = "alice bind serviceinstances infra/mydb"
)

// elsewhere adds the instance mydb of the namespace infra, on a plan: "dev/db-small" for one of infra's own.
func elsewhere(plan string, sharing *v1beta1.Sharing, edits ...func(*v1beta1.ServiceInstance)) func(*stock) {
	return hasInstance("mydb", plan, append(edits, func(i *v1beta1.ServiceInstance) {
		i.Namespace, i.Spec.Sharing = "infra", sharing
	})...)
}

func withDev() *v1beta1.Sharing { return &v1beta1.Sharing{Namespaces: []string{"dev"}} }

func withTeam(team string) *v1beta1.Sharing {
	return &v1beta1.Sharing{NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"team": team}}}
}

// Who may bind to an instance of another namespace, and as what the binding is stored.
func TestSharedBinding(t *testing.T) {
	t.Parallel()
	checkBindings(t, sharedBindingCases())
}

func sharedBindingCases() map[string]bindingCase {
	with := func(edits ...func(*stock)) func(string) []func(*stock) {
		return func(string) []func(*stock) { return append(edits, hasNamespace("dev", "team", "a")) }
	}
	// Each phase of admission asks.
	admitted := func(reason string, edits ...func(*stock)) bindingCase {
		return bindingCase{reason: reason, spec: toShared, scope: onlyCluster, edits: with(edits...), granted: []string{aliceBinds}, asked: []string{aliceBinds, aliceBinds}, plan: "db-small"}
	}
	refused := func(label, reason string, edits ...func(*stock)) bindingCase {
		return bindingCase{reason: reason, spec: toShared, scope: onlyCluster, edits: with(edits...), granted: []string{aliceBinds}, asked: []string{aliceBinds}, denied: label}
	}
	noRight := refused("NotShared", "Consent is not enough.", elsewhere("db-small", withDev()))
	noRight.granted = []string{"alice bind serviceinstances infra/other", "bob bind serviceinstances infra/mydb", "alice get serviceinstances infra/mydb"}
	denied := refused("PolicyDenied", "Policies hold, in the binding's namespace.", elsewhere("db-small", withDev()), ruled("bind-deny x instance=infra/mydb in=dev"))
	denied.asked = []string{aliceBinds, aliceBinds}
	frozen := refused("PolicyDenied", "Those about instances, too.", elsewhere("db-small", withDev()), ruled("deny x plan=small in=dev"))
	frozen.asked = denied.asked
	cases := map[string]bindingCase{
		"Named":         admitted("The namespace is named.", elsewhere("db-small", withDev())),
		"Selected":      admitted("The namespace has the label.", elsewhere("db-small", withTeam("a"))),
		"OtherPolicies": admitted("What policies say of other namespaces is no matter.", elsewhere("db-small", withDev()), ruled("bind-deny x type=mysql in=infra", "deny y type=mysql in=infra")),
		"NoRight":       noRight,
		"Absent":        refused("NotShared", "There is no such instance."),
		"NoSharing":     refused("NotShared", "Closed by default.", elsewhere("db-small", nil)),
		"OthersNamed":   refused("NotShared", "Others may.", elsewhere("db-small", &v1beta1.Sharing{Namespaces: []string{"prod"}})),
		"NotSelected":   refused("NotShared", "Other labels.", elsewhere("db-small", withTeam("b"))),
		"SameNameHere":  refused("NotShared", "One of that name here is another.", hasInstance("mydb", "db-small")),
		"Undecided":     refused("SharedNotReady", "It does not wait for what its user may not look at.", elsewhere("", withDev())),
		"PlanGone":      refused("SharedNotReady", "Nor for a plan.", elsewhere("gone-x", withDev())),
		"Deleting":      refused("InstanceDeleting", "Who may bind is told the rest.", elsewhere("db-small", withDev(), ending)),
		"DeletingNot":   refused("NotShared", "Who may not, is not.", elsewhere("db-small", nil, ending)),
		"Policy":        denied, "ProvisioningPolicy": frozen,
	}
	cases["Restored"] = bindingCase{
		reason: "A backup passes the same door.", spec: `{"instanceRef":{"name":"mydb","namespace":"infra"},"externalID":"e-1",` + bindRefs + `}`, scope: onlyCluster,
		edits: with(elsewhere("db-small", nil)), granted: []string{aliceBinds}, asked: []string{aliceBinds}, denied: "NotShared",
	}
	cases["RestoredAhead"] = bindingCase{
		reason: "And does not wait, either.", spec: `{"instanceRef":{"name":"mydb","namespace":"infra"},"externalID":"e-1",` + bindRefs + `}`, scope: onlyCluster,
		edits: with(), granted: []string{aliceBinds}, asked: []string{aliceBinds}, denied: "NotShared",
	}
	maps.Copy(cases, sharedUpdateCases(with))
	return cases
}

// sharedUpdateCases are writes to a binding that is decided.
func sharedUpdateCases(with func(...func(*stock)) func(string) []func(*stock)) map[string]bindingCase {
	bound := bindingCase{
		spec: toShared, scope: onlyCluster, edits: with(elsewhere("db-small", withDev())), granted: []string{aliceBinds},
		later: with(elsewhere("db-small", nil)),
	}
	touched, dropped, moved := bound, bound, bound
	touched.reason, touched.write, touched.want = "A touch does not check permission again.", `{"metadata":{"labels":{"a":"b"}}}`, `{"metadata":{"labels":{"a":"b"}}}`
	dropped.reason = "An old client does not know the namespace, and drops it."
	dropped.put = `{"instanceRef":{"name":"mydb"},` + bindRefs + `}`
	moved.reason, moved.write, moved.denied = "It cannot be moved to another instance.", `{"spec":{"instanceRef":{"namespace":"prod"}}}`, "Immutable"
	return map[string]bindingCase{"Touched": touched, "Dropped": dropped, "Moved": moved}
}

// What is not shared, not there or not allowed has one answer, to the byte, from reviews that are the same. Who has not
// the right has it without a read, so that no time tells anything; who has it, from the same reads.
func TestNotSharedTellsNothing(t *testing.T) {
	t.Parallel()
	type observed struct {
		label, text    string
		reads, reviews []string
	}
	look := func(t *testing.T, granted bool, edits ...func(*stock)) observed {
		t.Helper()
		w := stocked(t, db, append(edits, hasNamespace("dev", "team", "a"))...).env()
		if granted {
			w.reviews.granted = []string{aliceBinds}
		}
		o := w.bindTo(toShared)
		require.NotNil(t, o.denied())
		return observed{o.label(), o.render(""), w.live.taken(), w.reviews.taken()}
	}
	want := look(t, false)
	assert.Equal(t, "NotShared", want.label)
	assert.Empty(t, want.reads)
	for name, tc := range map[string]struct {
		reason  string
		granted bool
		edits   []func(*stock)
	}{
		"AbsentAllowed":  {reason: "there is none, and the user may", granted: true},
		"Forbidden":      {reason: "there is one, and the user may not", edits: []func(*stock){elsewhere("db-small", withDev())}},
		"ForbiddenEnds":  {reason: "even one that goes", edits: []func(*stock){elsewhere("db-small", withDev(), ending)}},
		"NotShared":      {reason: "it exists, and no namespace is named", granted: true, edits: []func(*stock){elsewhere("db-small", nil)}},
		"NotSelected":    {reason: "or another namespace", granted: true, edits: []func(*stock){elsewhere("db-small", withTeam("b"))}},
		"NeitherDecided": {reason: "or it waits for a plan", edits: []func(*stock){elsewhere("", withDev())}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			want := want
			if tc.granted {
				want.reads = []string{"get ServiceInstance infra/mydb", "get Namespace /dev"}
			}
			assert.Equal(t, want, look(t, tc.granted, tc.edits...), tc.reason)
		})
	}
}

// The references of a shared binding are names in the sharer's namespace, where its classes and plans may be.
func TestSharedPlanOfANamespace(t *testing.T) {
	t.Parallel()
	own := func(i *v1beta1.ServiceInstance) { i.Spec.ServiceType = "mysql" }
	w := stocked(t, "infra|"+db, elsewhere("dev/db-small", withDev(), own), hasNamespace("dev", "team", "a"), bindDefaultsOf("infra/db-small", `{"tls":true}`)).env()
	w.reviews.granted = []string{aliceBinds}
	stored := w.bindTo(toShared).admitted()
	assert.JSONEq(t, `{"name":"db-small"}`, at(t, stored, "/spec/servicePlanRef"))
	assert.JSONEq(t, `{"name":"db"}`, at(t, stored, "/spec/serviceClassRef"))
	assert.JSONEq(t, `{"tls":true}`, at(t, stored, "/spec/parameters"))
	assert.Equal(t, `"creds"`, at(t, stored, "/spec/secretName"))
	assert.Empty(t, w.write(stored, stored).mutate.Patch, "it is decided once")
}

// A plan that the sharer wrote cannot have Secrets added that the binding's user may not read: not of the binding's
// namespace, not of the sharer's, not of any other.
func TestSharerAddsNoSecrets(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason, secret, right string
	}{
		"Consumers": {reason: "without a namespace it is the binding's", secret: "payroll", right: "alice get secrets dev/payroll"},
		"Named":     {reason: "also if it is written", secret: "dev/payroll", right: "alice get secrets dev/payroll"},
		"Sharers":   {reason: "what the sharer may read is not what the user may", secret: "infra/root", right: "alice get secrets infra/root"},
		"Systems":   {reason: "nor what the controller may", secret: "kube-system/token", right: "alice get secrets kube-system/token"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := stocked(t, "infra|"+db, elsewhere("dev/db-small", withDev()), hasNamespace("dev", "team", "a"), transformsOf("infra/db-small", `[`+addKeys(tc.secret)+`]`)).env()
			w.reviews.granted = []string{aliceBinds}
			o := w.bindTo(toShared)
			require.NotNil(t, o.denied(), tc.reason)
			assert.Equal(t, "SecretForbidden", o.label())
			assert.Contains(t, w.reviews.taken(), tc.right, tc.reason)
			w.reviews.granted = append(w.reviews.granted, tc.right)
			w.bindTo(toShared).admitted()
		})
	}
}

// A binding that was stored while no hook looked is decided at a touch only if who wrote it may bind.
func TestSharedBindingTouchedLater(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason  string
		granted []string
		meta    string
		decided bool
	}{
		"WriterMay":   {reason: "the writer is asked about, not who touches", granted: []string{aliceBinds}, decided: true},
		"ToucherMay":  {reason: "who touches lends no rights", granted: []string{"bob bind serviceinstances infra/mydb"}},
		"NobodyMay":   {reason: "no user may"},
		"NobodyKnown": {reason: "without an ID no hook saw it: its user may be made up", granted: []string{aliceBinds}, meta: "unseen"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := stocked(t, db, elsewhere("db-small", withDev()), hasNamespace("dev", "team", "a")).env()
			w.reviews.granted = tc.granted
			spec := `{"instanceRef":{"name":"mydb","namespace":"infra"},"userInfo":{"username":"alice"},"secretName":"creds","externalID":"e-1"}`
			if tc.meta == "unseen" {
				spec = `{"instanceRef":{"name":"mydb","namespace":"infra"},"userInfo":{"username":"alice"},"secretName":"creds"}`
			}
			old := bindingWith(`{"name":"creds","namespace":"dev","annotations":{"servicecatalog.kubernetes.io/minted-external-id":"e-1"}}`, spec)
			w.user.Username = "bob"
			stored := w.write(changed(t, old, `{"metadata":{"labels":{"a":"b"}}}`), old).admitted()
			assert.Equal(t, tc.decided, at(t, stored, "/spec/clusterServicePlanRef") != "absent", tc.reason)
		})
	}
}

// The validating phase lets none pass that the mutating phase did not see.
func TestSharedBindingIsNeverStoredUndecided(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason, want string
		sharing      *v1beta1.Sharing
	}{
		"Shared":    {reason: "it would wait", sharing: withDev(), want: "SharedNotReady"},
		"NotShared": {reason: "it would wait, and not even may", want: "NotShared"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := stocked(t, db, elsewhere("db-small", tc.sharing), hasNamespace("dev", "team", "a")).env()
			w.reviews.granted = []string{aliceBinds}
			v := w.ask(ValidateBindings, w.review(bindingOf(toShared), nil))
			assert.Equal(t, tc.want, v.outcome, tc.reason)
		})
	}
}

// What cannot be asked is a failure of ours, and no answer.
func TestSharedBindingFailures(t *testing.T) {
	t.Parallel()
	for _, read := range []string{"get ServiceInstance infra/mydb", "get Namespace /dev", "review"} {
		t.Run(read, func(t *testing.T) {
			t.Parallel()
			w := stocked(t, db, elsewhere("db-small", withDev()), hasNamespace("dev", "team", "a")).env()
			w.reviews.granted = []string{aliceBinds}
			if read == "review" {
				w.reviews.down = errors.New("down")
			}
			w.live.fail(func(asked string) error {
				if asked == read {
					return errors.New("down")
				}
				return nil
			})
			body, err := json.Marshal(w.review(bindingOf(toShared), nil))
			require.NoError(t, err)
			assert.Equal(t, http.StatusInternalServerError, w.post(MutateBindings, body).Code)
		})
	}
}
