package admission_test

import (
	"fmt"
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
	"Bare":         {reason: "it has no owner"},
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
// binding owns. Other users are not restricted.
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

// TestControllerTakesOverWhatIsOffered: a Secret without an owner whose annotation says that it
// holds the credentials of a binding may become that binding's, as it is.
func TestControllerTakesOverWhatIsOffered(t *testing.T) {
	e := env.New(t)
	owner := guardSecrets(e)
	theirs := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: e.Namespace, Name: "theirs"}}
	e.Create(theirs)
	offered := func(name string) *corev1.Secret {
		secret := newSecret(e, name, owner, guardedSecret{})
		secret.Annotations = map[string]string{api.AnnotationCredentialsOf: "their-id"}
		return secret
	}
	for name, tc := range map[string]struct {
		reason string
		stored func(*corev1.Secret)
		change func(*corev1.Secret)
		may    bool
	}{
		"AsItIs":           {reason: "its content stays", may: true},
		"Unmarked":         {reason: "no user offers it", stored: func(s *corev1.Secret) { s.Annotations = nil }},
		"MarkedNow":        {reason: "the controller does not offer it", stored: func(s *corev1.Secret) { s.Annotations = nil }, change: func(s *corev1.Secret) { s.Annotations = offered("").Annotations }},
		"MarkedForAnother": {reason: "nor to another", change: func(s *corev1.Secret) { s.Annotations[api.AnnotationCredentialsOf] = "mine" }},
		"Written":          {reason: "it is no other's credentials", change: func(s *corev1.Secret) { s.StringData = map[string]string{"a": "c"} }},
		"Fixed":            {reason: "or made immutable", change: func(s *corev1.Secret) { s.Immutable = new(true) }},
		"Unowned":          {reason: "it would never go", change: func(s *corev1.Secret) { s.OwnerReferences = nil }},
		"Owned": {reason: "it is another's", stored: func(s *corev1.Secret) {
			s.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "ConfigMap", Name: theirs.Name, UID: theirs.UID}}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			e := e.In(t)
			stored := offered(strings.ToLower(name))
			if tc.stored != nil {
				tc.stored(stored)
			}
			e.Create(stored)
			next := stored.DeepCopy()
			next.Labels = map[string]string{api.LabelManagedBy: api.ManagedByController}
			next.OwnerReferences = append(next.OwnerReferences, newSecret(e, "", owner, guardedSecrets["Own"]).OwnerReferences...)
			if tc.change != nil {
				tc.change(next)
			}
			refusedUnless(t, tc.may, e.As(env.ControllerUser).Client().Update(t.Context(), next, client.DryRunAll), tc.reason)
		})
	}
}

// TestControllerKeepsForeignSecrets: of a Secret that is not its own the controller may
// write the finalizers of brokers, and nothing beside them. It is not parallel, as another test
// installs the policy too.
func TestControllerKeepsForeignSecrets(t *testing.T) {
	e := env.New(t)
	guardSecrets(e)
	number := func(i int) string {
		return api.FinalizerOfBroker(types.UID(fmt.Sprintf("11111111-0000-4000-8000-%012d", i)))
	}
	ours := number(0)
	kept := newSecret(e, "kept", "", guardedSecret{})
	kept.Finalizers = []string{"example.com/theirs", ours}
	full, all := newSecret(e, "full", "", guardedSecret{}), []string{}
	for i := range 16 {
		all = append(all, number(i))
	}
	full.Finalizers = all
	e.Create(newSecret(e, "foreign", "", guardedSecret{}), kept, full)
	defer func() {
		e.Change(kept, func() { kept.Finalizers = nil })
		e.Change(full, func() { full.Finalizers = nil })
	}()
	quoted := func(finalizers ...string) string {
		return `{"metadata":{"finalizers":["` + strings.Join(finalizers, `","`) + `"]}}`
	}
	cases := map[string]struct {
		reason, name, patch string
		may                 bool
	}{
		"Add":         {reason: "what it is there for", name: "foreign", patch: `{"metadata":{"finalizers":["` + ours + `"]}}`, may: true},
		"TakeOff":     {reason: "at the end", name: "kept", patch: `{"metadata":{"finalizers":["example.com/theirs"]}}`, may: true},
		"AddTheirs":   {reason: "another's", name: "foreign", patch: `{"metadata":{"finalizers":["example.com/theirs"]}}`},
		"TakeTheirs":  {reason: "another's", name: "kept", patch: `{"metadata":{"finalizers":["` + ours + `"]}}`},
		"AndData":     {reason: "Attack: credentials of the attacker's", name: "foreign", patch: `{"metadata":{"finalizers":["` + ours + `"]},"data":{"a":"Yw=="}}`},
		"AndText":     {reason: "which may be written as text", name: "foreign", patch: `{"metadata":{"finalizers":["` + ours + `"]},"stringData":{"a":"c"}}`},
		"AndLabel":    {reason: "others select by it", name: "foreign", patch: `{"metadata":{"finalizers":["` + ours + `"],"labels":{"a":"b"}}}`},
		"AndNote":     {reason: "others act on it", name: "foreign", patch: `{"metadata":{"finalizers":["` + ours + `"],"annotations":{"a":"b"}}}`},
		"AndOwner":    {reason: "Attack: it would be deleted", name: "foreign", patch: `{"metadata":{"finalizers":["` + ours + `"],"ownerReferences":[{"apiVersion":"v1","kind":"ConfigMap","name":"absent","uid":"u"}]}}`},
		"AndSeal":     {reason: "it could not be changed any more", name: "foreign", patch: `{"metadata":{"finalizers":["` + ours + `"]},"immutable":true}`},
		"AddTwo":      {reason: "a broker has one", name: "foreign", patch: quoted(ours, number(1))},
		"AddOdd":      {reason: "Attack: no broker has it, and none takes it off", name: "foreign", patch: quoted("servicecatalog.kubernetes.io/broker-" + strings.Repeat("x", 36))},
		"AddToFull":   {reason: "Attack: a Secret that is too large to be changed", name: "full", patch: quoted(append(all, number(16))...)},
		"TakeOfFull":  {reason: "a broker goes", name: "full", patch: quoted(all[1:]...), may: true},
		"NothingElse": {reason: "data alone", name: "kept", patch: `{"data":{"a":"Yw=="}}`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			of := newSecret(e, tc.name, "", guardedSecret{})
			err := e.As(env.ControllerUser).Client().Patch(t.Context(), of, client.RawPatch(types.MergePatchType, []byte(tc.patch)), client.DryRunAll)
			refusedUnless(t, tc.may, err, tc.reason)
		})
	}

	t.Run("InItsOwnNamespace", func(t *testing.T) {
		e := e.In(t).InNamespace("defaultplan-system")
		name := e.Name("certificates")
		grantController(e, name, rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"secrets"}, Verbs: []string{"get", "patch"}})
		e.Create(newSecret(e, name, "", guardedSecret{}))
		err := e.As(env.ControllerUser).Client().Patch(t.Context(), newSecret(e, name, "", guardedSecret{}), client.RawPatch(types.MergePatchType, []byte(quoted(ours))), client.DryRunAll)
		refusedUnless(t, false, err, "certificates are no broker's credentials")
	})
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
