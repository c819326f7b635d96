package webhook

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// addKeys is a transform that adds the keys of a Secret, "namespace/name" or "name" for one of the binding's own namespace.
func addKeys(secret string) string {
	if namespace, name, found := cutNamespace(secret); found {
		return fmt.Sprintf(`{"addKeysFrom":{"secretRef":{"name":%q,"namespace":%q}}}`, name, namespace)
	}
	return fmt.Sprintf(`{"addKeysFrom":{"secretRef":{"name":%q}}}`, secret)
}

func cutNamespace(name string) (namespace, rest string, found bool) {
	for i := range name {
		if name[i] == '/' {
			return name[:i], name[i+1:], true
		}
	}
	return "", name, false
}

// A reader of a binding's Secret reads the Secrets that its transforms add, so
// their writer needs permission to read them, checked once.
func TestBindingSecrets(t *testing.T) {
	t.Parallel()
	checkBindings(t, bindingSecretCases())
}

func bindingSecretCases() map[string]bindingCase {
	with := func(secret string) string {
		return `{"instanceRef":{"name":"mydb"},"secretTransforms":[` + addKeys(secret) + `]}`
	}
	gives := func(where, secret string) func(at string) []func(*stock) {
		return func(at string) []func(*stock) {
			return []func(*stock){transformsOf(at+where, `[`+addKeys(secret)+`]`), hasInstance("mydb", at+"db-small")}
		}
	}
	nothing := func(string) []func(*stock) { return []func(*stock){} }
	transforms := func(secret string) string { return `{"secretTransforms":[` + addKeys(secret) + `]}` }
	const waits = `no plan is decided yet: instance "mydb" does not exist yet; the binding waits`
	adds := []string{"defaults of plan db/small add 1 secret transforms"}
	left := func(secret, user, why string) []string {
		return []string{`no plan is decided yet: spec.secretTransforms[0].addKeysFrom.secretRef: user "` + user + `" may not get Secret "` + secret + `"` + why + `; the binding waits`}
	}
	const applied = `"metadata":{"annotations":{"servicecatalog.kubernetes.io/applied-defaults":"{\"rule\":\"instance\",\"class\":\"db\",\"plan\":\"small\",\"transforms\":[\"plan\"]}"}}`
	const refs = `"clusterServiceClassRef":{"name":"db"},"clusterServicePlanRef":{"name":"db-small"}`
	return map[string]bindingCase{
		"OwnSecret": {
			reason: "One of the binding's namespace, which need not be written.", spec: with("extra"), plan: "db-small",
			asked: []string{"alice get secrets dev/extra"}, granted: []string{"alice get secrets dev/extra"},
		},
		"OwnSecretForbidden": {reason: "Who may not get it, may not have it added.", spec: with("extra"), asked: []string{"alice get secrets dev/extra"}, denied: "SecretForbidden"},
		"OtherNamespace": {
			reason: "Any namespace may be named by who may read there.", spec: with("infra/root"), plan: "db-small",
			asked: []string{"alice get secrets infra/root"}, granted: []string{"alice get secrets infra/root"},
		},
		"OtherNamespaceForbidden": {reason: "And by no one else.", spec: with("infra/root"), asked: []string{"alice get secrets infra/root"}, denied: "SecretForbidden"},
		"Several": {
			reason: "Each is asked for, and each that is missing is told.",
			spec:   `{"instanceRef":{"name":"mydb"},"secretTransforms":[` + addKeys("a") + `,{"removeKey":{"key":"x"}},` + addKeys("b") + `,` + addKeys("infra/c") + `]}`,
			asked:  []string{"alice get secrets dev/a", "alice get secrets dev/b", "alice get secrets infra/c"}, granted: []string{"alice get secrets dev/b"}, denied: "SecretForbidden",
		},
		"OfUndecided": {
			reason: "What waits was asked for when it was written.", edits: nothing, spec: with("extra"), asked: []string{"alice get secrets dev/extra"}, denied: "SecretForbidden",
		},
		"GivenByThePlan": {
			reason: "What a cluster's plan gives was asked of its writer.", edits: gives("db-small", "infra/root"), scope: onlyCluster,
			spec: toMydb, plan: "db-small", want: transforms("infra/root"), warnings: adds,
		},
		"GivenByTheClass": {
			reason: "Or its class.", edits: gives("db", "infra/root"), scope: onlyCluster,
			spec: toMydb, plan: "db-small", want: transforms("infra/root"), warnings: adds,
		},
		"WrittenAsThePlanGives": {
			reason: "What the binding writes as the plan does is given as well.", edits: gives("db-small", "infra/root"), scope: onlyCluster, spec: with("infra/root"), plan: "db-small",
		},
		"GivenByAnotherPlan": {
			reason: "What another plan gives is not.", scope: onlyCluster, spec: with("infra/root"), asked: []string{"alice get secrets infra/root"}, denied: "SecretForbidden",
			edits: func(string) []func(*stock) {
				return []func(*stock){transformsOf("db-large", `[`+addKeys("infra/root")+`]`), hasInstance("mydb", "db-small")}
			},
		},
		"GivenByANamespacedPlan": {
			reason: "Attack: who may write plans in a namespace may not read its Secrets, nor let others.", edits: gives("db-small", "root"), scope: onlyNamespace,
			spec: toMydb, asked: []string{"alice get secrets dev/root"}, denied: "SecretForbidden",
		},
		"GivenByANamespacedClass": {
			reason: "Nor who may write classes.", edits: gives("db", "infra/root"), scope: onlyNamespace,
			spec: toMydb, asked: []string{"alice get secrets infra/root"}, denied: "SecretForbidden",
		},
		"GivenByANamespacedPlanToAReader": {
			reason: "Who may read it gets it.", edits: gives("db-small", "root"), scope: onlyNamespace, granted: []string{"alice get secrets dev/root"},
			spec: toMydb, asked: []string{"alice get secrets dev/root"}, plan: "db-small", want: transforms("root"), warnings: adds,
		},
		"NotGivenAnyMore": {
			reason: "What the cache still gives and the API server does not is asked for.", scope: onlyCluster, behind: gives("db-small", "infra/root"),
			spec: toMydb, asked: []string{"alice get secrets infra/root"}, denied: "SecretForbidden",
		},
		"NotAskedAgain": {
			reason: "A touch asks nothing again: alice was asked, and bob's label gives nothing away.", edits: nothing, spec: with("extra"), granted: []string{"alice get secrets dev/extra"},
			later: func(at string) []func(*stock) { return []func(*stock){hasInstance("mydb", at+"db-small")} },
			write: `{}`, want: `{"metadata":{"annotations":{"servicecatalog.kubernetes.io/applied-defaults":"{\"rule\":\"instance\",\"class\":\"db\",\"plan\":\"small\"}"}},"spec":{` + refs + `}}`,
		},
		"AddedByAnEdit": {
			reason: "Who adds one is asked, not who wrote the rest.", edits: nothing, spec: with("extra"), granted: []string{"alice get secrets dev/extra", "alice get secrets dev/more"},
			write: `{"spec":{"secretTransforms":[` + addKeys("extra") + `,` + addKeys("more") + `]}}`, asked: []string{"bob get secrets dev/more"}, denied: "SecretForbidden",
		},
		"AddedByAnEditInAnothersName": {
			reason: "Another user's name in userInfo gives no permission.", edits: nothing, spec: toMydb, granted: []string{"alice get secrets dev/more"},
			write: `{"spec":{"secretTransforms":[` + addKeys("more") + `],"userInfo":{"username":"alice","uid":"u-1","groups":["devs"],"extra":{"scope":["a"]}}}}`,
			asked: []string{"bob get secrets dev/more"}, denied: "SecretForbidden",
		},
		"Moved": {
			reason: "Another namespace is another Secret.", edits: nothing, spec: with("extra"), granted: []string{"alice get secrets dev/extra"},
			write: `{"spec":{"secretTransforms":[` + addKeys("infra/extra") + `]}}`, asked: []string{"bob get secrets infra/extra"}, denied: "SecretForbidden",
		},
		"TouchedAddsForItsUser": {
			reason: "What a namespace's plan adds at a touch is asked of the user on record.", scope: onlyNamespace, edits: nothing, spec: toMydb,
			granted: []string{"alice get secrets dev/root"}, later: gives("db-small", "root"), write: `{}`,
			asked: []string{"alice get secrets dev/root", "alice get secrets dev/root"}, warnings: adds,
			want: `{` + applied + `,"spec":{` + refs + `,"secretTransforms":[` + addKeys("root") + `]}}`,
		},
		"TouchedAddsForbidden": {
			reason: "Where that user may not, it waits: bob and the keeper may touch it, whatever they may read.", scope: onlyNamespace, edits: nothing, spec: toMydb,
			granted: []string{"bob get secrets dev/root"}, later: gives("db-small", "root"), write: `{"metadata":{"labels":{"a":"b"}}}`, want: `{"metadata":{"labels":{"a":"b"}}}`,
			asked: []string{"alice get secrets dev/root"}, warnings: left("dev/root", "alice", ""),
		},
		"TouchedAddsForNobody": {
			reason: "Where no user is on record there is no one to ask.", scope: onlyNamespace, edits: nothing, spec: toMydb, stored: `{"spec":{"userInfo":null}}`,
			granted: []string{"bob get secrets dev/root", " get secrets dev/root"}, later: gives("db-small", "root"), write: `{}`, warnings: left("dev/root", "", " (no user is on record)"),
		},
		"TouchedGivenByTheCluster": {
			reason: "What a cluster's plan gives at a touch is not asked for.", scope: onlyCluster, edits: nothing, spec: toMydb, later: gives("db-small", "infra/root"), write: `{}`,
			want: `{` + applied + `,"spec":{` + refs + `,"secretTransforms":[` + addKeys("infra/root") + `]}}`, warnings: adds,
		},
		"ForgedRefsOfThePlanThatGives": {
			reason: "Attack: references to a plan that gives a Secret, beside an instance that is of another.", scope: onlyCluster,
			edits: func(string) []func(*stock) {
				return []func(*stock){transformsOf("db-large", `[`+addKeys("infra/root")+`]`), hasInstance("mydb", "db-small")}
			},
			spec:  `{"instanceRef":{"name":"mydb"},"externalID":"e-1","clusterServiceClassRef":{"name":"db"},"clusterServicePlanRef":{"name":"db-large"},"secretTransforms":[` + addKeys("infra/root") + `]}`,
			asked: []string{"alice get secrets infra/root"}, denied: "SecretForbidden",
		},
		"ForgedRefsBeforeTheInstance": {
			reason: "Attack: or beside one that is yet to come.", scope: onlyCluster,
			edits: func(string) []func(*stock) {
				return []func(*stock){transformsOf("db-large", `[`+addKeys("infra/root")+`]`)}
			},
			spec:  `{"instanceRef":{"name":"mydb"},"externalID":"e-1","clusterServiceClassRef":{"name":"db"},"clusterServicePlanRef":{"name":"db-large"},"secretTransforms":[` + addKeys("infra/root") + `]}`,
			asked: []string{"alice get secrets infra/root"}, denied: "SecretForbidden",
		},
		"Waits": {reason: "A binding that waits may name Secrets that its user may read.", edits: nothing, spec: with("extra"), granted: []string{"alice get secrets dev/extra"}, asked: []string{"alice get secrets dev/extra"}, warnings: []string{waits}},
	}
}

// A review that cannot be made is a failure of ours, not a refusal.
func TestBindingSecretsUnknown(t *testing.T) {
	t.Parallel()
	w := stocked(t, db, hasInstance("mydb", "db-small")).env()
	w.reviews.down = assert.AnError
	body, err := json.Marshal(w.review(bindingOf(`{"instanceRef":{"name":"mydb"},"secretTransforms":[`+addKeys("extra")+`]}`), nil))
	require.NoError(t, err)
	assert.Equal(t, http.StatusInternalServerError, w.post(ValidateBindings, body).Code)
}

// The validating phase validates what will be stored: also what another hook
// wrote after ours.
func TestBindingValidatedAlone(t *testing.T) {
	t.Parallel()
	w := stocked(t, db, hasInstance("mydb", "db-small")).env()
	old := bindingOf(`{"instanceRef":{"name":"absent"},"externalID":"e-1","userInfo":{"username":"carol"}}`)
	w.reviews.granted = []string{"carol get secrets dev/extra", "root get secrets dev/extra"}
	written := changed(t, old, `{"spec":{"userInfo":{"username":"root"},"secretTransforms":[`+addKeys("extra")+`]}}`)
	judged := w.ask(ValidateBindings, w.review(written, old))
	assert.False(t, judged.Allowed)
	assert.Equal(t, []string{"alice get secrets dev/extra"}, w.reviews.taken(), "the requester is asked, not whom the object names")

	judged = w.ask(ValidateBindings, w.review(bindingOf(`{"instanceRef":{"name":"mydb"},"externalID":"e-1",`+bindRefs+`}`), nil))
	assert.False(t, judged.Allowed)
	assert.Equal(t, "ForgedReference", judged.outcome, "what is decided has a record")

	for name, tc := range map[string]struct{ instance, rule, plan, outcome string }{
		"AsItsInstance":    {"mydb", "instance", "db-small", "allowed"},
		"OfAnotherPlan":    {"mydb", "instance", "db-large", "Disagreement"},
		"OfAnEarlierPlan":  {"mydb", "restored", "db-large", "allowed"},
		"OfAnotherClass":   {"mydb", "restored", "db2-large", "Disagreement"},
		"BeforeItExists":   {"absent", "restored", "db-small", "Disagreement"},
		"BeforeItsDecided": {"waits", "instance", "db-small", "Disagreement"},
	} {
		w := stocked(t, db+";db2: large", hasInstance("mydb", "db-small"), hasInstance("waits", "")).env()
		class, _, _ := strings.Cut(tc.plan, "-")
		spec := fmt.Sprintf(`{"instanceRef":{"name":%q},"externalID":"e-1","clusterServiceClassRef":{"name":%q},"clusterServicePlanRef":{"name":%q}}`, tc.instance, class, tc.plan)
		meta := fmt.Sprintf(`{"name":"creds","namespace":"dev","annotations":{"servicecatalog.kubernetes.io/applied-defaults":"{\"rule\":\"%s\"}"}}`, tc.rule)
		assert.Equal(t, tc.outcome, w.ask(ValidateBindings, w.review(bindingWith(meta, spec), nil)).outcome, name)
	}
}

// What was stored while no hook looked was asked of no one, and the name in it is anyone's: it waits for an edit.
func TestBindingStoredUnseen(t *testing.T) {
	t.Parallel()
	w := stocked(t, db, hasInstance("mydb", "db-small")).env()
	w.reviews.granted = []string{"root get secrets infra/root", "alice get secrets infra/root"}
	old := bindingOf(`{"instanceRef":{"name":"mydb"},"userInfo":{"username":"root"},"secretTransforms":[` + addKeys("infra/root") + `]}`)
	o := w.write(changed(t, old, `{"metadata":{"labels":{"a":"b"}}}`), old)
	assert.Equal(t, "absent", at(t, o.admitted(), "/spec/clusterServicePlanRef"))
	assert.Empty(t, w.reviews.taken())
	edited := w.write(changed(t, old, `{"spec":{"parameters":{"a":1}}}`), old)
	assert.JSONEq(t, `{"name":"db-small"}`, at(t, edited.admitted(), "/spec/clusterServicePlanRef"))
	assert.Equal(t, []string{"alice get secrets infra/root"}, w.reviews.taken())
}
