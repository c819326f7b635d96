package admission_test

import (
	"encoding/base64"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/e2e/env"
	"github.com/defaultplan/defaultplan/e2e/stack/suite"
)

// addMallory makes a user of this test's own who may write all of our kinds, and may
// read no Secret, use no broker and choose no default.
func addMallory(e *env.Env) *env.Env {
	e.Helper()
	name := e.Name("mallory")
	e.Create(&rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: name}, Rules: []rbacv1.PolicyRule{{
		APIGroups: []string{api.GroupName}, Verbs: []string{"get", "list", "watch", "create", "update", "patch", "delete"},
		Resources: []string{
			"clusterservicebrokers", "servicebrokers", "clusterserviceclasses", "serviceclasses", "clusterserviceplans", "serviceplans",
			"serviceinstances", "servicebindings",
		},
	}}})
	bindCluster(e, name, name)
	theirs := e.As(name)
	e.Eventually(func() (bool, error) {
		return theirs.MayDo(authorizationv1.ResourceAttributes{Verb: "create", Group: api.GroupName, Resource: "servicebindings"})
	})
	return theirs
}

// bindCluster gives a user a ClusterRole everywhere.
func bindCluster(e *env.Env, role, user string) {
	e.Helper()
	e.Create(&rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: role}, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role},
		Subjects: []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: user}},
	})
}

// letReadSecret lets a user read one Secret of the namespace.
func letReadSecret(e *env.Env, user, secret string) {
	e.Helper()
	meta := metav1.ObjectMeta{Namespace: e.Namespace, Name: "read-" + secret}
	e.Create(&rbacv1.Role{ObjectMeta: meta, Rules: []rbacv1.PolicyRule{{
		APIGroups: []string{""}, Resources: []string{"secrets"}, ResourceNames: []string{secret}, Verbs: []string{"get"},
	}}}, &rbacv1.RoleBinding{
		ObjectMeta: meta, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: meta.Name},
		Subjects: []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: user}},
	})
}

// forbiddenSecret asserts that err refuses a field by which the Secret would be
// read, and says how to see why.
func forbiddenSecret(e *env.Env, err error, field, secret, reason string) {
	e.Helper()
	e.RefusedAt(err, field, reason)
	assert.True(e, apierrors.IsForbidden(err), "%s: %v", reason, err)
	assert.Contains(e, env.Said(err), "kubectl auth can-i get secret/"+secret+" -n "+e.Namespace+" --as "+e.Name("mallory"), reason)
}

// TestSecretThroughDefaults: who may write plans and bindings, but not read a
// Secret, does not get it copied by a transform, however it is brought in.
func TestSecretThroughDefaults(t *testing.T) {
	t.Parallel()
	e := env.New(t)
	mallory := addMallory(e)
	adds := []api.SecretTransform{{AddKeysFrom: &api.AddKeysFromTransform{SecretRef: &api.ObjectReference{Namespace: e.Namespace, Name: "vault"}}}}
	const inDefaults, inBinding = "spec.defaultSecretTransforms[0].addKeysFrom.secretRef", "spec.secretTransforms[0].addKeysFrom.secretRef"
	local := env.Class{Namespace: e.Namespace, Name: e.Name("local")}
	mallory.Create(local.Object())
	mine, ok := env.Plan{Namespace: e.Namespace, Name: e.Name("mine"), Class: local.Name}.Object().(*api.ServicePlan)
	require.True(t, ok)
	mine.Spec.DefaultSecretTransforms = adds
	forbiddenSecret(e, mallory.Client().Create(t.Context(), mine.DeepCopy()), inDefaults, "vault", "a plan's default")
	owned, ok := local.Object().(*api.ServiceClass)
	require.True(t, ok)
	owned.Name, owned.Spec.DefaultSecretTransforms = e.Name("other"), adds
	forbiddenSecret(e, mallory.Client().Create(t.Context(), owned), inDefaults, "vault", "a class's default")

	// Someone who may read it brings it into the namespace's plan.
	e.Create(mine)
	require.NoError(t, mallory.Client().Patch(t.Context(), mine, env.MergePatch(`{"spec":{"description":"hers"}}`)), "what stands there is not asked again")
	e.CreateInstance("mydb", env.OfLocalPlan(local.Name, mine.Name))
	binding := mallory.Binding("creds", "mydb")
	forbiddenSecret(e, mallory.Client().Create(t.Context(), binding.DeepCopy()), inBinding, "vault", "through a plan of the namespace")
	written := binding.DeepCopy()
	written.Spec.SecretTransforms, written.Spec.SecretTransformDefaults = adds, api.SecretTransformDefaultsNone
	forbiddenSecret(e, mallory.Client().Create(t.Context(), written), inBinding, "vault", "into the binding itself")

	// A cluster-scoped plan gives it to every user who binds: its writer's
	// permission was checked.
	e.AddPlans(env.Class{Name: e.Name("c")})
	given, ok := env.Plan{Name: e.Name("p"), Class: e.Name("c")}.Object().(*api.ClusterServicePlan)
	require.True(t, ok)
	given.Spec.DefaultSecretTransforms = adds
	forbiddenSecret(e, mallory.Client().Create(t.Context(), given.DeepCopy()), inDefaults, "vault", "a cluster plan's default")
	e.Create(given)
	e.CreateInstance("given", env.OfPlan(e.Name("c"), e.Name("p")))
	wanted := mallory.Binding("given", "mydb")
	wanted.Spec.InstanceRef.Name = "given"
	mallory.Create(wanted)
	assert.Equal(t, adds, wanted.Spec.SecretTransforms)

	letReadSecret(e, e.Name("mallory"), "vault")
	e.Eventually(func() (bool, error) { return mallory.Client().Create(t.Context(), binding) == nil, nil })
	assert.Equal(t, adds, binding.Spec.SecretTransforms, "who may read it may have it")
}

// TestSecretThroughAForgedDecision: a binding that says it was decided on a plan
// that gives a Secret, for an instance that is yet to come.
func TestSecretThroughAForgedDecision(t *testing.T) {
	t.Parallel()
	e := env.New(t)
	mallory := addMallory(e)
	adds := []api.SecretTransform{{AddKeysFrom: &api.AddKeysFromTransform{SecretRef: &api.ObjectReference{Namespace: e.Namespace, Name: "vault"}}}}
	e.AddPlans(env.Class{Name: e.Name("c")}, env.Plan{Name: e.Name("cheap")})
	given, ok := env.Plan{Name: e.Name("p"), Class: e.Name("c")}.Object().(*api.ClusterServicePlan)
	require.True(t, ok)
	given.Spec.DefaultSecretTransforms = adds
	e.Create(given)
	for name, instance := range map[string]string{"absent": "absent", "another plan": "cheap"} {
		if instance == "cheap" {
			e.CreateInstance("cheap", env.OfPlan(e.Name("c"), e.Name("cheap")))
		}
		forged := mallory.Binding("creds", "mydb")
		forged.Spec.InstanceRef.Name = instance
		forged.Annotations = map[string]string{api.AnnotationAppliedDefaults: `{"rule":"instance"}`}
		forged.Spec.SecretTransforms = adds
		forged.Spec.ClusterServiceClassRef = &api.ClusterObjectReference{Name: e.Name("c")}
		forged.Spec.ClusterServicePlanRef = &api.ClusterObjectReference{Name: e.Name("p")}
		err := mallory.Client().Create(t.Context(), forged, client.DryRunAll)
		forbiddenSecret(e, err, "spec.secretTransforms[0].addKeysFrom.secretRef", "vault", name)
	}
}

// TestBrokersCredentialsGoWhereTheirReaderSays: only a user who may read a
// broker's Secret decides where it is sent.
func TestBrokersCredentialsGoWhereTheirReaderSays(t *testing.T) {
	t.Parallel()
	bundle := base64.StdEncoding.EncodeToString(suite.Shared(t).RESTConfig().CAData)
	for kind, auth := range map[string]string{
		"ClusterServiceBroker": "{namespace: NAMESPACE, name: auth}", "ServiceBroker": "{name: auth}",
	} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			e := env.New(t)
			mallory := addMallory(e)
			of := env.Kind{Name: kind, Namespaced: !strings.HasPrefix(kind, "Cluster")}
			e.Create(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: e.Namespace, Name: "auth"}})
			broker := e.Unwritten(of, e.Name("broker"), "{url: 'https://broker.example', authInfo: {basic: {secretRef: "+auth+"}}}")
			const field = "spec.authInfo.basic.secretRef"
			forbiddenSecret(e, mallory.Client().Create(t.Context(), broker.DeepCopy()), field, "auth", "a broker of her own")
			e.Create(broker)
			for name, patch := range map[string]string{
				"URL": `{"spec":{"url":"https://mallory.example"}}`, "Port": `{"spec":{"url":"https://broker.example:444"}}`,
				"Bundle":   `{"spec":{"caBundle":"` + bundle + `"}}`,
				"Verify":   `{"spec":{"insecureSkipTLSVerify":true}}`,
				"LikeThat": patchText(e, `{spec: {authInfo: {basic: null, bearer: {secretRef: `+auth+`}}}}`),
			} {
				err := mallory.Client().Patch(t.Context(), broker.DeepCopy(), env.MergePatch(patch))
				wanted := field
				if name == "LikeThat" {
					wanted = "spec.authInfo.bearer.secretRef"
				}
				forbiddenSecret(e, err, wanted, "auth", name)
			}
			for name, patch := range map[string]string{
				"Label": `{"metadata":{"labels":{"a":"b"}}}`, "Relist": `{"spec":{"relistRequests":7}}`, "Away": `{"spec":{"authInfo":null}}`,
			} {
				require.NoError(t, mallory.Client().Patch(t.Context(), broker.DeepCopy(), env.MergePatch(patch), client.DryRunAll), name)
			}
			letReadSecret(e, e.Name("mallory"), "auth")
			e.Eventually(func() (bool, error) {
				err := mallory.Client().Patch(t.Context(), broker.DeepCopy(), env.MergePatch(`{"spec":{"url":"https://mallory.example"}}`))
				return err == nil, nil
			})
		})
	}
}

// patchText is a patch in YAML as JSON.
func patchText(e *env.Env, text string) string {
	e.Helper()
	patch, err := yaml.YAMLToJSON([]byte(e.Spelled(text)))
	require.NoError(e, err)
	return string(patch)
}
