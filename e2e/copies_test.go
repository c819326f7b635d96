package e2e_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
)

// The catalog of a broker: a class and a plan, known to it by their IDs.
const (
	brokersClass = "{externalName: NAME(azure), externalID: NAME(azure-id), serviceType: NAME(mysql), bindable: true, planUpdatable: true, clusterServiceBrokerName: broker}"
	brokersPlan  = "{externalName: NAME(basic), externalID: NAME(basic-id), clusterServiceBrokerName: broker, clusterServiceClassRef: {name: NAME(azure)}, " +
		"defaultProvisionParameters: {ssl: false, tier: basic}}"
)

// addOriginals stores the broker's class and plan, in the cluster or in the
// world's namespace.
func (w *world) addOriginals(s scope) {
	w.Helper()
	w.create(w.offered(s, "Class", w.name("azure"), brokersClass), w.offered(s, "Plan", w.name("basic"), brokersPlan))
}

// offered is a class or plan of a scope, not stored, by its spec in the cluster.
func (w *world) offered(s scope, kind, name, spec string) client.Object {
	w.Helper()
	if s.namespaced {
		return w.unwritten(ruledKind{kind: "Service" + kind, namespaced: true}, name, local.Replace(spec))
	}
	return w.unwritten(ruledKind{kind: "ClusterService" + kind}, name, spec)
}

// A copying is a copy of the broker's class and plan: the same IDs, other names
// and other defaults.
type copying struct {
	reason string
	// originals is the scope of what is copied, and copies that of the copies.
	originals, copies scope
	// broker is what the copies say of their broker.
	broker string
}

var copyings = map[string]copying{
	"InTheCluster":   {"a cluster's class copied within the cluster", clusterScope, clusterScope, "clusterServiceBrokerName: broker"},
	"InANamespace":   {"a namespace's class copied within it", namespaceScope, namespaceScope, "serviceBrokerName: broker"},
	"IntoANamespace": {"a cluster's class copied into a namespace", clusterScope, namespaceScope, "clusterServiceBrokerName: broker"},
}

// addCopies stores the copies, named "team" and "safe".
func (w *world) addCopies(c copying) {
	w.Helper()
	of := ruledKind{kind: "ClusterServiceClass"}
	plans := ruledKind{kind: "ClusterServicePlan"}
	if c.copies.namespaced {
		of, plans = ruledKind{kind: "ServiceClass", namespaced: true}, ruledKind{kind: "ServicePlan", namespaced: true}
	}
	w.create(w.unwritten(of, w.name("team"), "{externalName: NAME(team), externalID: NAME(azure-id), serviceType: NAME(team-mysql), bindable: true, "+c.broker+"}"))
	w.create(w.unwritten(plans, w.name("safe"), "{externalName: NAME(safe), externalID: NAME(basic-id), "+c.broker+", "+
		c.copies.classPrefix+"Ref: {name: NAME(team)}, defaultProvisionParameters: {ssl: true, tier: safe}}"))
}

// TestOwnDefaultsByACopy is "Define a new set of defaults": a copy of a class and
// of its plan, with names and defaults of its own, can be asked for by type, by
// class and by plan. That it shares its original's IDs matters only to who names
// by them.
func TestOwnDefaultsByACopy(t *testing.T) {
	t.Parallel()
	for name, c := range copyings {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.addOriginals(c.originals)
			w.addCopies(c)
			safe := w.refTo(c.copies, "safe")
			w.patch(w.offered(c.copies, "Plan", w.name("safe"), "{}"), `{"metadata":{"annotations":{"`+api.AnnotationDefaultPlan+`":"true"}}}`)
			for way, asked := range map[string]edit{
				"type":  ofType(w.name("team-mysql")),
				"class": c.copies.names(w.name("team"), ""),
				"plan":  c.copies.names(w.name("team"), w.name("safe")),
			} {
				got := w.createInstance("by-"+way, asked)
				assert.Equal(t, safe, w.holding(got).Plan, "%s: by %s", c.reason, way)
				assert.JSONEq(t, `{"ssl":true,"tier":"safe"}`, parametersOf(got), "its own defaults")
			}
			original := w.createInstance("original", c.originals.names(w.name("azure"), ""))
			assert.Equal(t, w.refTo(c.originals, "basic"), w.holding(original).Plan, "the original is as it was")
			assert.JSONEq(t, `{"ssl":false,"tier":"basic"}`, parametersOf(original))

			w.namesByID(c)
		})
	}
}

// namesByID asks for the class by its ID: where the copies are in the scope of
// their originals, it means both.
func (w *world) namesByID(c copying) {
	w.Helper()
	spec := "{" + c.copies.classPrefix + "ExternalID: NAME(azure-id), " + c.copies.planPrefix + "ExternalID: NAME(basic-id)}"
	if c.originals.namespaced != c.copies.namespaced {
		w.kubectl(w.manifest("by-id", spec), "create", "-f", "-")
		assert.Equal(w, w.refTo(c.copies, "safe"), w.holdingOf("by-id").Plan, "each scope has one")
		return
	}
	w.showsDenial("Copied"+c.copies.title, "ServiceInstance", spec)
}

// refTo is a reference as holdings have it.
func (w *world) refTo(s scope, base string) string {
	if s.namespaced {
		return w.namespace + "/" + w.name(base)
	}
	return "/" + w.name(base)
}

// TestCopyTakesTheOriginalsPlace is "Override the broker defaults": the operator
// copies a plan, makes the copy the default, and denies the original by a policy.
func TestCopyTakesTheOriginalsPlace(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.addOriginals(clusterScope)
	w.kubectl("", "annotate", "clusterserviceplan", w.name("basic"), api.AnnotationSuggestedPlan+"=true")
	before := w.createInstance("before", ofType(w.name("mysql")))
	require.Equal(t, w.name("basic"), planOf(before), "what the broker suggests")

	w.kubectl(w.manifestOf("ClusterServicePlan", w.name("safe"), "{externalName: NAME(safe), externalID: NAME(basic-id), "+
		"clusterServiceBrokerName: broker, clusterServiceClassRef: {name: NAME(azure)}, defaultProvisionParameters: {ssl: true}}"), "apply", "-f", "-")
	w.kubectl("", "annotate", "clusterserviceplan", w.name("safe"), api.AnnotationDefaultPlan+"=true")
	w.kubectl(w.manifestOf("ProvisioningPolicy", w.name("no-basic"), "{action: Deny, subjects: [{planName: NAME(basic)}], "+
		"message: basic is not encrypted; use safe}"), "apply", "-f", "-")
	w.deniedSoon(ofPlan(w.name("azure"), w.name("basic")))

	got := w.createInstance("db", ofType(w.name("mysql")))
	assert.Equal(t, w.name("safe"), planOf(got), "the type is the copy")
	assert.JSONEq(t, `{"ssl":true}`, parametersOf(got))
	assert.Equal(t, w.name("safe"), planOf(w.createInstance("named", ofPlan(w.name("azure"), w.name("safe")))))
	for name, spec := range map[string]string{
		"ByName": "{clusterServiceClassExternalName: NAME(azure), clusterServicePlanExternalName: NAME(basic)}",
		"ByKube": "{clusterServiceClassName: NAME(azure), clusterServicePlanName: NAME(basic)}",
	} {
		assert.Contains(t, w.showsDenial("Original"+name, "ServiceInstance", spec), "basic is not encrypted; use safe")
	}
	byClass := w.createInstance("by-class", ofPlan(w.name("azure"), ""))
	assert.Equal(t, w.name("safe"), planOf(byClass), "the class's default")

	require.NoError(t, w.send("before", `{"spec":{"parameters":{"tier":"gold"}}}`), "what is there stays as it is")
	assert.Equal(t, w.name("basic"), planOf(w.stored("before")))
}

// deniedSoon waits until a policy keeps the world from creating such an instance.
func (w *world) deniedSoon(asked edit) {
	w.Helper()
	w.eventually(func() (bool, error) {
		err := w.client.Create(w.Context(), w.instance("trial", asked), client.DryRunAll)
		return apierrors.IsForbidden(err), nil
	})
}

// TestCopyingAClusterClassTakesAGrant: whoever may write classes of a namespace
// may not provision at a cluster's broker by them. The shipped roles do not give
// that right, and a grant does.
func TestCopyingAClusterClassTakesAGrant(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.addOriginals(clusterScope)
	for _, role := range []string{"edit", "admin"} {
		w.create(&rbacv1.RoleBinding{
			ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: role},
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role},
			Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: w.name(role)}},
		})
	}
	editor, owner := w.as(w.name("edit")), w.as(w.name("admin"))
	w.eventually(func() (bool, error) {
		return owner.mayDo(authorizationv1.ResourceAttributes{Namespace: w.namespace, Verb: "create", Group: api.GroupName, Resource: "serviceplans"})
	})
	classes, plans := ruledKind{kind: "ServiceClass", namespaced: true}, ruledKind{kind: "ServicePlan", namespaced: true}
	copied := w.unwritten(classes, w.name("team"), "{externalName: NAME(team), externalID: NAME(azure-id), clusterServiceBrokerName: broker}")
	err := editor.client.Create(t.Context(), copied.DeepCopy())
	require.True(t, apierrors.IsForbidden(err), "%v", err)
	assert.NotContains(t, err.Error(), "admission webhook", "the edit role writes no classes at all")

	refuses := func(err error, field, reason string) {
		w.refusedAt(err, field, reason)
		assert.Contains(t, said(err), `may not use ClusterServiceBroker "broker"`, reason)
		assert.Contains(t, said(err), `"verbs":["use"]`, "the denial says what grants it")
	}
	refuses(owner.client.Create(t.Context(), copied.DeepCopy()), "spec.clusterServiceBrokerName", "a copy of a class")
	partial := w.unwritten(classes, w.name("partial"), "{externalName: NAME(partial), externalID: NAME(azure-id)}")
	require.NoError(t, owner.client.Create(t.Context(), partial.DeepCopy()), "a class of no broker is nobody's")
	refuses(owner.client.Patch(t.Context(), partial.DeepCopy(), rawMerge(`{"spec":{"clusterServiceBrokerName":"broker"}}`)), "spec.clusterServiceBrokerName", "nor in two steps")

	// The operator copies the class for them.
	w.create(copied)
	brokerless := w.unwritten(plans, w.name("brokerless"), "{externalName: NAME(brokerless), externalID: NAME(premium-id), serviceClassRef: {name: NAME(team)}}")
	owner.create(brokerless)
	assert.Empty(t, planOf(editor.createInstance("db", ofLocalPlan(w.name("team"), w.name("brokerless")))), "a plan of no broker is chosen by nobody")
	const setBroker = `{"spec":{"clusterServiceBrokerName":"broker"}}`
	refuses(owner.client.Patch(t.Context(), brokerless.DeepCopy(), rawMerge(setBroker)), "spec.clusterServiceBrokerName", "another plan of the broker's, by its ID")
	require.NoError(t, owner.client.Patch(t.Context(), copied.DeepCopy(), rawMerge(`{"spec":{"defaultProvisionParameters":{"ssl":true}}}`)),
		"the copy's defaults are theirs")

	w.grantUse("broker", w.name("admin"))
	w.eventually(func() (bool, error) {
		return owner.client.Patch(t.Context(), brokerless.DeepCopy(), rawMerge(setBroker)) == nil, nil
	})
	require.NoError(t, owner.client.Patch(t.Context(), partial, rawMerge(setBroker)))
	assert.Equal(t, w.name("brokerless"), planOf(w.becomesWhole("db")), "and whoever may write instances uses it")
}

// grantUse lets a user use a broker.
func (w *world) grantUse(broker, user string) {
	w.Helper()
	name := "use-" + strings.ToLower(user)
	w.create(&rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: name}, Rules: []rbacv1.PolicyRule{{
		APIGroups: []string{api.GroupName}, Resources: []string{"clusterservicebrokers"}, ResourceNames: []string{broker}, Verbs: []string{"use"},
	}}})
	w.bindCluster(name, user)
}
