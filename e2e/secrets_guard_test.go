package e2e_test

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
)

// controllerUser is who the controller is to the API server.
const controllerUser = "system:serviceaccount:defaultplan-system:defaultplan-controller"

// secretsPolicy holds the controller to its own Secrets.
const secretsPolicy = "secrets.servicecatalog.k8s.io"

// grantController gives the controller rights in the world's namespace, those of
// its own role aside.
func (w *world) grantController(name string, rules ...rbacv1.PolicyRule) {
	w.Helper()
	meta := metav1.ObjectMeta{Namespace: w.namespace, Name: name}
	w.create(&rbacv1.Role{ObjectMeta: meta, Rules: rules}, &rbacv1.RoleBinding{
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

// secret is a Secret in the world's namespace, not yet created; the owner is
// "creds".
func (w *world) secret(name string, uid types.UID, of guardedSecret) *corev1.Secret {
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: name}, StringData: map[string]string{"a": "b"}}
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
	w := newWorld(t)
	owner := w.guardSecrets()
	foreign := guardedSecret{}
	w.create(w.secret("own", owner, guardedSecrets["Own"]), w.secret("foreign", owner, foreign))
	for name, tc := range guardedSecrets {
		t.Run("Create/"+name, func(t *testing.T) {
			t.Parallel()
			w := w.in(t)
			refusedUnless(t, tc.may, w.as(controllerUser).client.Create(t.Context(), w.secret("new", owner, tc), client.DryRunAll), tc.reason)
			require.NoError(t, w.client.Create(t.Context(), w.secret("new", owner, tc), client.DryRunAll), "the administrator may")
		})
		t.Run("TurnOwnInto/"+name, func(t *testing.T) {
			t.Parallel()
			w := w.in(t)
			refusedUnless(t, tc.may, w.as(controllerUser).client.Update(t.Context(), w.secret("own", owner, tc), client.DryRunAll), tc.reason)
		})
		t.Run("TurnForeignInto/"+name, func(t *testing.T) {
			t.Parallel()
			w := w.in(t)
			refusedUnless(t, false, w.as(controllerUser).client.Update(t.Context(), w.secret("foreign", owner, tc), client.DryRunAll), "a foreign Secret is never taken over")
			require.NoError(t, w.client.Update(t.Context(), w.secret("foreign", owner, tc), client.DryRunAll), "the administrator may")
		})
	}
	theirs := w.as(controllerUser).client
	for name, may := range map[string]bool{"own": true, "foreign": false} {
		refusedUnless(t, may, theirs.Delete(t.Context(), w.secret(name, owner, foreign), client.DryRunAll), "delete "+name)
		patch := client.RawPatch(types.MergePatchType, []byte(`{"data":{"a":"Yw=="}}`))
		refusedUnless(t, may, theirs.Patch(t.Context(), w.secret(name, owner, foreign), patch, client.DryRunAll), "patch "+name)
	}
	refusedUnless(t, false, theirs.DeleteAllOf(t.Context(), &corev1.Secret{}, client.InNamespace(w.namespace), client.DryRunAll), "delete all")
}

// guardSecrets installs the policy as shipped, gives the controller the right to
// the world's Secrets, and returns when it is held; it returns the UID of binding
// "creds".
func (w *world) guardSecrets() types.UID {
	w.Helper()
	policy, err := fs.ReadFile(deploy.Manifests, "vap/secrets.yaml")
	require.NoError(w, err)
	w.kubectl(string(policy), "apply", "-f", "-")
	w.grantController("all-secrets", rbacv1.PolicyRule{
		APIGroups: []string{""}, Resources: []string{"secrets"}, Verbs: []string{"get", "list", "create", "update", "patch", "delete", "deletecollection"},
	})
	w.addReader()
	binding := w.binding("creds")
	w.create(binding)
	w.eventually(func() (bool, error) {
		err := w.as(controllerUser).client.Create(w.Context(), w.secret("probe", "", guardedSecret{}), client.DryRunAll)
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
	w := newWorld(t)
	for _, file := range []string{"flow/controller.yaml", "flow/webhook.yaml"} {
		content, err := fs.ReadFile(deploy.Manifests, file)
		require.NoError(t, err)
		told := w.kubectl(string(content), "apply", "--dry-run=server", "-f", "-")
		assert.Contains(t, told, "flowschema.flowcontrol.apiserver.k8s.io/defaultplan-", file)
		assert.NotContains(t, told, "Warning", file)
	}
}
