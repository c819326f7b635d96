package admission_test

import (
	"io/fs"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/deploy"
	"github.com/defaultplan/defaultplan/e2e/env"
)

// secretsPolicy holds the controller to its own Secrets.
const secretsPolicy = "secrets.servicecatalog.k8s.io"

// grantController gives the controller rights in the namespace, those of
// its own role aside.
func grantController(e *env.Env, name string, rules ...rbacv1.PolicyRule) {
	e.Helper()
	meta := metav1.ObjectMeta{Namespace: e.Namespace, Name: name}
	e.Create(&rbacv1.Role{ObjectMeta: meta, Rules: rules}, &rbacv1.RoleBinding{
		ObjectMeta: meta, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: name},
		Subjects: []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: "defaultplan-system", Name: "defaultplan-controller"}},
	})
}

// A guardedSecret is what becomes of a Secret.
type guardedSecret struct {
	reason string
	// labels and owner of the Secret; owner is a kind and its group's version.
	label string
	owner metav1.TypeMeta
	may   bool
}

var ofBinding = metav1.TypeMeta{APIVersion: api.GroupVersion.String(), Kind: "ServiceBinding"}

var guardedSecrets = map[string]guardedSecret{
	"Own":          {reason: "what it is there for", label: api.ManagedByController, owner: ofBinding, may: true},
	"Bare":         {reason: "nobody's"},
	"Unlabelled":   {reason: "who lists its Secrets would not find it", owner: ofBinding},
	"OtherLabel":   {reason: "Helm's", label: "Helm", owner: ofBinding},
	"Unowned":      {reason: "it would never go", label: api.ManagedByController},
	"OfAnInstance": {reason: "credentials are a binding's", label: api.ManagedByController, owner: metav1.TypeMeta{APIVersion: api.GroupVersion.String(), Kind: "ServiceInstance"}},
	"OfOtherGroup": {reason: "Attack: another API's kind of that name", label: api.ManagedByController, owner: metav1.TypeMeta{APIVersion: "servicebinding.io/v1", Kind: "ServiceBinding"}},
}

// newSecret is a Secret in the namespace, not yet created; the owner is
// "creds".
func newSecret(e *env.Env, name string, uid types.UID, of guardedSecret) *corev1.Secret {
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: e.Namespace, Name: name}, StringData: map[string]string{"a": "b"}}
	if of.label != "" {
		secret.Labels = map[string]string{api.LabelManagedBy: of.label}
	}
	if of.owner.Kind != "" {
		secret.OwnerReferences = []metav1.OwnerReference{{APIVersion: of.owner.APIVersion, Kind: of.owner.Kind, Name: "creds", UID: uid}}
	}
	return secret
}

// TestControllerIsHeldToItsSecrets: with the right to all Secrets of a namespace,
// the controller creates, changes and deletes only those that it labels and a
// binding owns. Nobody else is held to anything.
func TestControllerIsHeldToItsSecrets(t *testing.T) {
	t.Parallel()
	e := env.New(t)
	owner := guardSecrets(e)
	foreign := guardedSecret{}
	e.Create(newSecret(e, "own", owner, guardedSecrets["Own"]), newSecret(e, "foreign", owner, foreign))
	for name, tc := range guardedSecrets {
		t.Run("Create/"+name, func(t *testing.T) {
			t.Parallel()
			e := e.In(t)
			refusedUnless(t, tc.may, e.As(env.ControllerUser).Client().Create(t.Context(), newSecret(e, "new", owner, tc), client.DryRunAll), tc.reason)
			require.NoError(t, e.Client().Create(t.Context(), newSecret(e, "new", owner, tc), client.DryRunAll), "the administrator may")
		})
		t.Run("TurnOwnInto/"+name, func(t *testing.T) {
			t.Parallel()
			e := e.In(t)
			refusedUnless(t, tc.may, e.As(env.ControllerUser).Client().Update(t.Context(), newSecret(e, "own", owner, tc), client.DryRunAll), tc.reason)
		})
		t.Run("TurnForeignInto/"+name, func(t *testing.T) {
			t.Parallel()
			e := e.In(t)
			refusedUnless(t, false, e.As(env.ControllerUser).Client().Update(t.Context(), newSecret(e, "foreign", owner, tc), client.DryRunAll), "a foreign Secret is never taken over")
			require.NoError(t, e.Client().Update(t.Context(), newSecret(e, "foreign", owner, tc), client.DryRunAll), "the administrator may")
		})
	}
	theirs := e.As(env.ControllerUser).Client()
	for name, may := range map[string]bool{"own": true, "foreign": false} {
		refusedUnless(t, may, theirs.Delete(t.Context(), newSecret(e, name, owner, foreign), client.DryRunAll), "delete "+name)
		patch := client.RawPatch(types.MergePatchType, []byte(`{"data":{"a":"Yw=="}}`))
		refusedUnless(t, may, theirs.Patch(t.Context(), newSecret(e, name, owner, foreign), patch, client.DryRunAll), "patch "+name)
	}
	refusedUnless(t, false, theirs.DeleteAllOf(t.Context(), &corev1.Secret{}, client.InNamespace(e.Namespace), client.DryRunAll), "delete all")
}

// guardSecrets installs the policy as shipped, gives the controller the right to
// the namespace's Secrets, and returns when it is held; it returns the UID of binding
// "creds".
func guardSecrets(e *env.Env) types.UID {
	e.Helper()
	policy, err := fs.ReadFile(deploy.Manifests, "vap/secrets.yaml")
	require.NoError(e, err)
	e.Kubectl(string(policy), "apply", "-f", "-")
	grantController(e, "all-secrets", rbacv1.PolicyRule{
		APIGroups: []string{""}, Resources: []string{"secrets"}, Verbs: []string{"get", "list", "create", "update", "patch", "delete", "deletecollection"},
	})
	e.AddReader()
	binding := e.Binding("creds", "mydb")
	e.Create(binding)
	e.Eventually(func() (bool, error) {
		err := e.As(env.ControllerUser).Client().Create(e.Context(), newSecret(e, "probe", "", guardedSecret{}), client.DryRunAll)
		if err != nil && isRefusedBy(err, secretsPolicy) {
			return true, nil
		}
		return false, err
	})
	return binding.UID
}

func isRefusedBy(err error, policy string) bool {
	return apierrors.IsForbidden(err) && strings.Contains(err.Error(), "'"+policy+"'")
}

// refusedUnless asserts that the policy refused a write, unless it may be.
func refusedUnless(t *testing.T, may bool, err error, reason string) {
	t.Helper()
	if may {
		require.NoError(t, err, reason)
		return
	}
	require.Error(t, err, reason)
	assert.True(t, isRefusedBy(err, secretsPolicy), "%s: %v", reason, err)
}

// TestFlowsAreAccepted: the API server takes the priority levels as shipped.
func TestFlowsAreAccepted(t *testing.T) {
	t.Parallel()
	e := env.New(t)
	for _, file := range []string{"flow/controller.yaml", "flow/webhook.yaml"} {
		content, err := fs.ReadFile(deploy.Manifests, file)
		require.NoError(t, err)
		told := e.Kubectl(string(content), "apply", "--dry-run=server", "-f", "-")
		assert.Contains(t, told, "flowschema.flowcontrol.apiserver.k8s.io/defaultplan-", file)
		assert.NotContains(t, told, "Warning", file)
	}
}
