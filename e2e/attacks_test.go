package e2e_test

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
)

// mallory is a user of this world's own who may write all of our kinds, and may
// read no Secret, use no broker and choose no default. No other world knows her.
func (w *world) mallory() *world {
	w.Helper()
	name := w.name("mallory")
	w.create(&rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: name}, Rules: []rbacv1.PolicyRule{{
		APIGroups: []string{api.GroupName}, Verbs: []string{"get", "list", "watch", "create", "update", "patch", "delete"},
		Resources: []string{
			"clusterservicebrokers", "servicebrokers", "clusterserviceclasses", "serviceclasses", "clusterserviceplans", "serviceplans",
			"serviceinstances", "servicebindings",
		},
	}}})
	w.bindCluster(name, name)
	theirs := w.as(name)
	w.eventually(func() (bool, error) {
		return theirs.mayDo(authorizationv1.ResourceAttributes{Verb: "create", Group: api.GroupName, Resource: "servicebindings"})
	})
	return theirs
}

// bindCluster gives a user a ClusterRole everywhere.
func (w *world) bindCluster(role, user string) {
	w.Helper()
	w.create(&rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: role}, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role},
		Subjects: []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: user}},
	})
}

// letReadSecret lets a user read one Secret of the world's namespace.
func (w *world) letReadSecret(user, secret string) {
	w.Helper()
	meta := metav1.ObjectMeta{Namespace: w.namespace, Name: "read-" + secret}
	w.create(&rbacv1.Role{ObjectMeta: meta, Rules: []rbacv1.PolicyRule{{
		APIGroups: []string{""}, Resources: []string{"secrets"}, ResourceNames: []string{secret}, Verbs: []string{"get"},
	}}}, &rbacv1.RoleBinding{
		ObjectMeta: meta, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: meta.Name},
		Subjects: []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: user}},
	})
}

// forbiddenSecret asserts that err refuses a field by which the Secret would be
// read, and says how to see why.
func (w *world) forbiddenSecret(err error, field, secret, reason string) {
	w.Helper()
	w.refusedAt(err, field, reason)
	assert.True(w, apierrors.IsForbidden(err), "%s: %v", reason, err)
	assert.Contains(w, said(err), "kubectl auth can-i get secret/"+secret+" -n "+w.namespace+" --as "+w.name("mallory"), reason)
}

// TestSecretThroughDefaults: who may write plans and bindings, but not read a
// Secret, does not get it copied by a transform, however it is brought in.
func TestSecretThroughDefaults(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	mallory := w.mallory()
	adds := []api.SecretTransform{{AddKeysFrom: &api.AddKeysFromTransform{SecretRef: &api.ObjectReference{Namespace: w.namespace, Name: "vault"}}}}
	const inDefaults, inBinding = "spec.defaultSecretTransforms[0].addKeysFrom.secretRef", "spec.secretTransforms[0].addKeysFrom.secretRef"
	local := class{namespace: w.namespace, name: w.name("local")}
	mallory.create(local.object())
	mine, ok := plan{namespace: w.namespace, name: w.name("mine"), class: local.name}.object().(*api.ServicePlan)
	require.True(t, ok)
	mine.Spec.DefaultSecretTransforms = adds
	w.forbiddenSecret(mallory.client.Create(t.Context(), mine.DeepCopy()), inDefaults, "vault", "a plan's default")
	owned, ok := local.object().(*api.ServiceClass)
	require.True(t, ok)
	owned.Name, owned.Spec.DefaultSecretTransforms = w.name("other"), adds
	w.forbiddenSecret(mallory.client.Create(t.Context(), owned), inDefaults, "vault", "a class's default")

	// Someone who may read it brings it into the namespace's plan.
	w.create(mine)
	require.NoError(t, mallory.client.Patch(t.Context(), mine, rawMerge(`{"spec":{"description":"hers"}}`)), "what stands there is not asked again")
	w.createInstance("mydb", ofLocalPlan(local.name, mine.Name))
	binding := mallory.binding("creds")
	w.forbiddenSecret(mallory.client.Create(t.Context(), binding.DeepCopy()), inBinding, "vault", "through a plan of the namespace")
	written := binding.DeepCopy()
	written.Spec.SecretTransforms, written.Spec.SecretTransformDefaults = adds, api.SecretTransformDefaultsNone
	w.forbiddenSecret(mallory.client.Create(t.Context(), written), inBinding, "vault", "into the binding itself")

	// A cluster's plan gives it to whoever binds: its writer was asked.
	w.addPlans(class{name: w.name("c")})
	given, ok := plan{name: w.name("p"), class: w.name("c")}.object().(*api.ClusterServicePlan)
	require.True(t, ok)
	given.Spec.DefaultSecretTransforms = adds
	w.forbiddenSecret(mallory.client.Create(t.Context(), given.DeepCopy()), inDefaults, "vault", "a cluster plan's default")
	w.create(given)
	w.createInstance("given", ofPlan(w.name("c"), w.name("p")))
	wanted := mallory.binding("given")
	wanted.Spec.InstanceRef.Name = "given"
	mallory.create(wanted)
	assert.Equal(t, adds, wanted.Spec.SecretTransforms)

	w.letReadSecret(w.name("mallory"), "vault")
	w.eventually(func() (bool, error) { return mallory.client.Create(t.Context(), binding) == nil, nil })
	assert.Equal(t, adds, binding.Spec.SecretTransforms, "who may read it may have it")
}

// TestSecretThroughAForgedDecision: a binding that says it was decided on a plan
// that gives a Secret, for an instance that is yet to come.
func TestSecretThroughAForgedDecision(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	mallory := w.mallory()
	adds := []api.SecretTransform{{AddKeysFrom: &api.AddKeysFromTransform{SecretRef: &api.ObjectReference{Namespace: w.namespace, Name: "vault"}}}}
	w.addPlans(class{name: w.name("c")}, plan{name: w.name("cheap")})
	given, ok := plan{name: w.name("p"), class: w.name("c")}.object().(*api.ClusterServicePlan)
	require.True(t, ok)
	given.Spec.DefaultSecretTransforms = adds
	w.create(given)
	for name, instance := range map[string]string{"absent": "absent", "another plan": "cheap"} {
		if instance == "cheap" {
			w.createInstance("cheap", ofPlan(w.name("c"), w.name("cheap")))
		}
		forged := mallory.binding("creds")
		forged.Spec.InstanceRef.Name = instance
		forged.Annotations = map[string]string{api.AnnotationAppliedDefaults: `{"rule":"instance"}`}
		forged.Spec.SecretTransforms = adds
		forged.Spec.ClusterServiceClassRef = &api.ClusterObjectReference{Name: w.name("c")}
		forged.Spec.ClusterServicePlanRef = &api.ClusterObjectReference{Name: w.name("p")}
		err := mallory.client.Create(t.Context(), forged, client.DryRunAll)
		w.forbiddenSecret(err, "spec.secretTransforms[0].addKeysFrom.secretRef", "vault", name)
	}
}

// TestBrokersCredentialsGoWhereTheirReaderSays: whoever decides where a broker's
// Secret is sent may read it.
func TestBrokersCredentialsGoWhereTheirReaderSays(t *testing.T) {
	t.Parallel()
	bundle := base64.StdEncoding.EncodeToString(shared.RESTConfig().CAData)
	for kind, auth := range map[string]string{
		"ClusterServiceBroker": "{namespace: NAMESPACE, name: auth}", "ServiceBroker": "{name: auth}",
	} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			mallory := w.mallory()
			of := ruledKind{kind: kind, namespaced: !strings.HasPrefix(kind, "Cluster")}
			w.create(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: "auth"}})
			broker := w.unwritten(of, w.name("broker"), "{url: 'https://broker.example', authInfo: {basic: {secretRef: "+auth+"}}}")
			const field = "spec.authInfo.basic.secretRef"
			w.forbiddenSecret(mallory.client.Create(t.Context(), broker.DeepCopy()), field, "auth", "a broker of her own")
			w.create(broker)
			for name, patch := range map[string]string{
				"URL": `{"spec":{"url":"https://mallory.example"}}`, "Port": `{"spec":{"url":"https://broker.example:444"}}`,
				"Bundle":   `{"spec":{"caBundle":"` + bundle + `"}}`,
				"Verify":   `{"spec":{"insecureSkipTLSVerify":true}}`,
				"LikeThat": w.patchText(`{spec: {authInfo: {basic: null, bearer: {secretRef: ` + auth + `}}}}`),
			} {
				err := mallory.client.Patch(t.Context(), broker.DeepCopy(), rawMerge(patch))
				wanted := field
				if name == "LikeThat" {
					wanted = "spec.authInfo.bearer.secretRef"
				}
				w.forbiddenSecret(err, wanted, "auth", name)
			}
			for name, patch := range map[string]string{
				"Label": `{"metadata":{"labels":{"a":"b"}}}`, "Relist": `{"spec":{"relistRequests":7}}`, "Away": `{"spec":{"authInfo":null}}`,
			} {
				require.NoError(t, mallory.client.Patch(t.Context(), broker.DeepCopy(), rawMerge(patch), client.DryRunAll), name)
			}
			w.letReadSecret(w.name("mallory"), "auth")
			w.eventually(func() (bool, error) {
				err := mallory.client.Patch(t.Context(), broker.DeepCopy(), rawMerge(`{"spec":{"url":"https://mallory.example"}}`))
				return err == nil, nil
			})
		})
	}
}

// patchText is a patch in YAML as JSON.
func (w *world) patchText(text string) string {
	w.Helper()
	patch, err := yaml.YAMLToJSON([]byte(w.spelled(text)))
	require.NoError(w, err)
	return string(patch)
}
