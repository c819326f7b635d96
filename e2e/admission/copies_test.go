package admission_test

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
	"github.com/defaultplan/defaultplan/e2e/env"
	"github.com/defaultplan/defaultplan/e2e/golden"
	"github.com/defaultplan/defaultplan/e2e/offering"
)

// The catalog of a broker: a class and a plan, known to it by their IDs.
const (
	brokersClass = "{externalName: NAME(azure), externalID: NAME(azure-id), serviceType: NAME(mysql), bindable: true, planUpdatable: true, clusterServiceBrokerName: broker}"
	brokersPlan  = "{externalName: NAME(basic), externalID: NAME(basic-id), clusterServiceBrokerName: broker, clusterServiceClassRef: {name: NAME(azure)}, " +
		"defaultProvisionParameters: {ssl: false, tier: basic}}"
)

// addOriginals stores the broker's class and plan, in the cluster or in the
// namespace.
func addOriginals(e *env.Env, s offering.Scope) {
	e.Helper()
	e.Create(offered(e, s, "Class", e.Name("azure"), brokersClass), offered(e, s, "Plan", e.Name("basic"), brokersPlan))
}

// offered is a class or plan of a scope, not stored, by its spec in the cluster.
func offered(e *env.Env, s offering.Scope, kind, name, spec string) client.Object {
	e.Helper()
	if s.Namespaced {
		return e.Unwritten(env.Kind{Name: "Service" + kind, Namespaced: true}, name, env.Local.Replace(spec))
	}
	return e.Unwritten(env.Kind{Name: "ClusterService" + kind}, name, spec)
}

// A copying is a copy of the broker's class and plan: the same IDs, other names
// and other defaults.
type copying struct {
	reason string
	// originals is the scope of what is copied, and copies that of the copies.
	originals, copies offering.Scope
	// broker is what the copies say of their broker.
	broker string
}

var copyings = map[string]copying{
	"InTheCluster":   {"a cluster's class copied within the cluster", offering.Cluster, offering.Cluster, "clusterServiceBrokerName: broker"},
	"InANamespace":   {"a namespace's class copied within it", offering.Namespace, offering.Namespace, "serviceBrokerName: broker"},
	"IntoANamespace": {"a cluster's class copied into a namespace", offering.Cluster, offering.Namespace, "clusterServiceBrokerName: broker"},
}

// addCopies stores the copies, named "team" and "safe".
func addCopies(e *env.Env, c copying) {
	e.Helper()
	of := env.Kind{Name: "ClusterServiceClass"}
	plans := env.Kind{Name: "ClusterServicePlan"}
	if c.copies.Namespaced {
		of, plans = env.Kind{Name: "ServiceClass", Namespaced: true}, env.Kind{Name: "ServicePlan", Namespaced: true}
	}
	e.Create(e.Unwritten(of, e.Name("team"), "{externalName: NAME(team), externalID: NAME(azure-id), serviceType: NAME(team-mysql), bindable: true, "+c.broker+"}"))
	e.Create(e.Unwritten(plans, e.Name("safe"), "{externalName: NAME(safe), externalID: NAME(basic-id), "+c.broker+", "+
		c.copies.ClassPrefix+"Ref: {name: NAME(team)}, defaultProvisionParameters: {ssl: true, tier: safe}}"))
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
			e := env.New(t)
			addOriginals(e, c.originals)
			addCopies(e, c)
			safe := refTo(e, c.copies, "safe")
			e.Patch(offered(e, c.copies, "Plan", e.Name("safe"), "{}"), `{"metadata":{"annotations":{"`+api.AnnotationDefaultPlan+`":"true"}}}`)
			for way, asked := range map[string]env.InstanceEdit{
				"type":  env.OfType(e.Name("team-mysql")),
				"class": c.copies.Names(e.Name("team"), ""),
				"plan":  c.copies.Names(e.Name("team"), e.Name("safe")),
			} {
				got := e.CreateInstance("by-"+way, asked)
				assert.Equal(t, safe, e.Holding(got).Plan, "%s: by %s", c.reason, way)
				assert.JSONEq(t, `{"ssl":true,"tier":"safe"}`, env.ParametersOf(got), "its own defaults")
			}
			original := e.CreateInstance("original", c.originals.Names(e.Name("azure"), ""))
			assert.Equal(t, refTo(e, c.originals, "basic"), e.Holding(original).Plan, "the original is as it was")
			assert.JSONEq(t, `{"ssl":false,"tier":"basic"}`, env.ParametersOf(original))

			namesByID(e, c)
		})
	}
}

// namesByID asks for the class by its ID: where the copies are in the scope of
// their originals, it means both.
func namesByID(e *env.Env, c copying) {
	e.Helper()
	spec := "{" + c.copies.ClassPrefix + "ExternalID: NAME(azure-id), " + c.copies.PlanPrefix + "ExternalID: NAME(basic-id)}"
	if c.originals.Namespaced != c.copies.Namespaced {
		e.Kubectl(e.Manifest("by-id", spec), "create", "-f", "-")
		assert.Equal(e, refTo(e, c.copies, "safe"), e.HoldingOf("by-id").Plan, "each scope has one")
		return
	}
	golden.Denial(e, "Copied"+c.copies.Title, "ServiceInstance", spec)
}

// refTo is a reference as holdings have it.
func refTo(e *env.Env, s offering.Scope, base string) string {
	if s.Namespaced {
		return e.Namespace + "/" + e.Name(base)
	}
	return "/" + e.Name(base)
}

// TestCopyTakesTheOriginalsPlace is "Override the broker defaults": the operator
// copies a plan, makes the copy the default, and denies the original by a policy.
func TestCopyTakesTheOriginalsPlace(t *testing.T) {
	t.Parallel()
	e := env.New(t)
	addOriginals(e, offering.Cluster)
	e.Kubectl("", "annotate", "clusterserviceplan", e.Name("basic"), api.AnnotationSuggestedPlan+"=true")
	before := e.CreateInstance("before", env.OfType(e.Name("mysql")))
	require.Equal(t, e.Name("basic"), env.PlanOf(before), "what the broker suggests")

	e.Kubectl(e.ManifestOf("ClusterServicePlan", e.Name("safe"), "{externalName: NAME(safe), externalID: NAME(basic-id), "+
		"clusterServiceBrokerName: broker, clusterServiceClassRef: {name: NAME(azure)}, defaultProvisionParameters: {ssl: true}}"), "apply", "-f", "-")
	e.Kubectl("", "annotate", "clusterserviceplan", e.Name("safe"), api.AnnotationDefaultPlan+"=true")
	e.Kubectl(e.ManifestOf("ProvisioningPolicy", e.Name("no-basic"), "{action: Deny, subjects: [{planName: NAME(basic)}], "+
		"message: basic is not encrypted; use safe}"), "apply", "-f", "-")
	e.DeniedSoon(env.OfPlan(e.Name("azure"), e.Name("basic")))

	got := e.CreateInstance("db", env.OfType(e.Name("mysql")))
	assert.Equal(t, e.Name("safe"), env.PlanOf(got), "the type is the copy")
	assert.JSONEq(t, `{"ssl":true}`, env.ParametersOf(got))
	assert.Equal(t, e.Name("safe"), env.PlanOf(e.CreateInstance("named", env.OfPlan(e.Name("azure"), e.Name("safe")))))
	for name, spec := range map[string]string{
		"ByName": "{clusterServiceClassExternalName: NAME(azure), clusterServicePlanExternalName: NAME(basic)}",
		"ByKube": "{clusterServiceClassName: NAME(azure), clusterServicePlanName: NAME(basic)}",
	} {
		assert.Contains(t, golden.Denial(e, "Original"+name, "ServiceInstance", spec), "basic is not encrypted; use safe")
	}
	byClass := e.CreateInstance("by-class", env.OfPlan(e.Name("azure"), ""))
	assert.Equal(t, e.Name("safe"), env.PlanOf(byClass), "the class's default")

	require.NoError(t, e.PatchInstance("before", `{"spec":{"parameters":{"tier":"gold"}}}`), "what is there stays as it is")
	assert.Equal(t, e.Name("basic"), env.PlanOf(e.Stored("before")))
}

// TestCopyingAClusterClassTakesAGrant: a user who may write classes of a
// namespace may not provision at a cluster's broker by them. The shipped roles
// do not give that right, and a grant does.
func TestCopyingAClusterClassTakesAGrant(t *testing.T) {
	t.Parallel()
	e := env.New(t)
	addOriginals(e, offering.Cluster)
	for _, role := range []string{"edit", "admin"} {
		e.Create(&rbacv1.RoleBinding{
			ObjectMeta: metav1.ObjectMeta{Namespace: e.Namespace, Name: role},
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role},
			Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: e.Name(role)}},
		})
	}
	editor, owner := e.As(e.Name("edit")), e.As(e.Name("admin"))
	e.Eventually(func() (bool, error) {
		return owner.MayDo(authorizationv1.ResourceAttributes{Namespace: e.Namespace, Verb: "create", Group: api.GroupName, Resource: "serviceplans"})
	})
	classes, plans := env.Kind{Name: "ServiceClass", Namespaced: true}, env.Kind{Name: "ServicePlan", Namespaced: true}
	copied := e.Unwritten(classes, e.Name("team"), "{externalName: NAME(team), externalID: NAME(azure-id), clusterServiceBrokerName: broker}")
	err := editor.Client().Create(t.Context(), copied.DeepCopy())
	require.True(t, apierrors.IsForbidden(err), "%v", err)
	assert.NotContains(t, err.Error(), "admission webhook", "the edit role writes no classes at all")

	refuses := func(err error, field, reason string) {
		e.RefusedAt(err, field, reason)
		assert.Contains(t, env.Said(err), `may not use ClusterServiceBroker "broker"`, reason)
		assert.Contains(t, env.Said(err), `"verbs":["use"]`, "the denial says what grants it")
	}
	refuses(owner.Client().Create(t.Context(), copied.DeepCopy()), "spec.clusterServiceBrokerName", "a copy of a class")
	partial := e.Unwritten(classes, e.Name("partial"), "{externalName: NAME(partial), externalID: NAME(azure-id)}")
	require.NoError(t, owner.Client().Create(t.Context(), partial.DeepCopy()), "a class of no broker needs no grant")
	refuses(owner.Client().Patch(t.Context(), partial.DeepCopy(), env.MergePatch(`{"spec":{"clusterServiceBrokerName":"broker"}}`)), "spec.clusterServiceBrokerName", "nor in two steps")

	// The operator copies the class for them.
	e.Create(copied)
	brokerless := e.Unwritten(plans, e.Name("brokerless"), "{externalName: NAME(brokerless), externalID: NAME(premium-id), serviceClassRef: {name: NAME(team)}}")
	refuses(owner.Client().Create(t.Context(), brokerless.DeepCopy()), "spec.clusterServiceBrokerName", "nor by a plan that leaves the broker to it")
	e.Create(brokerless)
	assert.Empty(t, env.PlanOf(editor.CreateInstance("db", env.OfLocalPlan(e.Name("team"), e.Name("brokerless")))), "a plan of no broker is not chosen")
	const setBroker = `{"spec":{"clusterServiceBrokerName":"broker"}}`
	refuses(owner.Client().Patch(t.Context(), brokerless.DeepCopy(), env.MergePatch(setBroker)), "spec.clusterServiceBrokerName", "another plan of the broker's, by its ID")
	require.NoError(t, owner.Client().Patch(t.Context(), copied.DeepCopy(), env.MergePatch(`{"spec":{"defaultProvisionParameters":{"ssl":true}}}`)),
		"the copy's defaults are theirs")

	grantUse(e, "broker", e.Name("admin"))
	e.Eventually(func() (bool, error) {
		return owner.Client().Patch(t.Context(), brokerless.DeepCopy(), env.MergePatch(setBroker)) == nil, nil
	})
	require.NoError(t, owner.Client().Patch(t.Context(), partial, env.MergePatch(setBroker)))
	assert.Equal(t, e.Name("brokerless"), env.PlanOf(e.InstanceDecided("db")), "and users who may write instances use it")
}

// grantUse lets a user use a broker.
func grantUse(e *env.Env, broker, user string) {
	e.Helper()
	name := "use-" + strings.ToLower(user)
	e.Create(&rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: name}, Rules: []rbacv1.PolicyRule{{
		APIGroups: []string{api.GroupName}, Resources: []string{"clusterservicebrokers"}, ResourceNames: []string{broker}, Verbs: []string{"use"},
	}}})
	bindCluster(e, name, user)
}
