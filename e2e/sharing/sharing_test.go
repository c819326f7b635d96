package sharing_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/osb/osbtest"
)

// Two have to agree: who keeps the instance, and who gives rights in its namespace.
func TestAnInstanceIsShared(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	alice := w.user("alice")
	b := w.binding("creds", "mydb")
	assert.Equal(t, "NotShared", alice.refused(b), "closed by default")
	alice.mayBind()
	assert.Equal(t, "NotShared", alice.refused(b), "a right is no consent")
	w.share(with("elsewhere"))
	assert.Equal(t, "NotShared", alice.refused(b), "consent is for those who are named")
	w.share(with("elsewhere", w.consumer))
	require.NoError(t, alice.client.Create(t.Context(), b))
	w.Ready(b)
	assert.Equal(t, alice.name, b.Spec.UserInfo.Username)
	assert.Equal(t, "creds", b.Status.Binding.Name)
	assert.NotEmpty(t, w.secret("creds").Data)
	bound := w.broker.Bindings()
	require.Len(t, bound, 1)
	for _, binding := range bound {
		assert.Equal(t, w.consumer, binding.Context["namespace"], "it is asked for in the consumer's namespace")
	}
	w.Delete(b)
	w.Gone(b)
	assert.Empty(t, w.broker.Bindings())
}

// A namespace may be named by its labels, too, and is let in and shut out as they change.
func TestAnInstanceIsSharedByLabel(t *testing.T) {
	t.Parallel()
	w := newWorld(t, &api.Sharing{NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"team": "shop"}}})
	alice := w.user("alice")
	alice.mayBind()
	b := w.binding("creds", "mydb")
	assert.Equal(t, "NotShared", alice.refused(b))
	w.label("shop")
	require.NoError(t, alice.client.Create(t.Context(), b))
	w.Ready(b)
	w.label("billing")
	w.HasCondition(b, api.ConditionShared, api.ConditionFalse, "")
	w.label("shop")
	w.unsaid(b)
}

// It does not wait for an instance: what there is not yet is refused as what there never is.
func TestASharedBindingNeverWaits(t *testing.T) {
	t.Parallel()
	w := newWorld(t, with("nobody"))
	alice := w.user("alice")
	alice.mayBind()
	assert.Equal(t, "NotShared", alice.refused(w.binding("creds", "later")))
	var list api.ServiceBindingList
	require.NoError(t, alice.client.List(t.Context(), &list, client.InNamespace(w.consumer)))
	assert.Empty(t, list.Items)
}

// Policies hold, of the binding's namespace.
func TestPoliciesHoldAcrossNamespaces(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.share(with(w.consumer))
	alice := w.user("alice")
	alice.mayBind()
	for name, policy := range map[string]func(api.PolicyRule) client.Object{
		"binding": func(rule api.PolicyRule) client.Object {
			return &api.BindingPolicy{ObjectMeta: metav1.ObjectMeta{Name: w.name("b")}, Spec: api.BindingPolicySpec{
				PolicyRule: rule, Subjects: []api.BindingPolicySubject{{Instance: &api.PolicyInstance{Namespace: w.owner, Name: "mydb"}}},
			}}
		},
		"provisioning": func(rule api.PolicyRule) client.Object {
			return &api.ProvisioningPolicy{ObjectMeta: metav1.ObjectMeta{Name: w.name("p")}, Spec: api.ProvisioningPolicySpec{
				PolicyRule: rule, Subjects: []api.PolicySubject{{PlanSubject: api.PlanSubject{ClassName: w.name("db")}}},
			}}
		},
	} {
		made := policy(api.PolicyRule{Action: api.PolicyDeny, Message: "ask the database team", Namespaces: &api.PolicyNamespaces{Names: []string{w.consumer}}})
		w.Create(made)
		w.Eventually(func() (bool, error) { return alice.refused(w.binding("creds", "mydb")) == "PolicyDenied", nil })
		w.Delete(made)
		w.Eventually(func() (bool, error) {
			err := alice.try(w.binding("creds-"+name, "mydb"))
			return err == nil, nil
		})
	}
}

// An old client knows neither sharing nor the namespace of an instance: what it replaces stays as it was.
func TestOldClientsChangeNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.share(thenUnbind(with(w.consumer)))
	b := w.bound("creds")
	w.Change(w.instance, func() { w.instance.Spec.Sharing = nil })
	assert.Equal(t, []string{w.consumer}, w.instance.Spec.Sharing.Namespaces)
	w.Change(b, func() { b.Spec.InstanceRef = &api.InstanceReference{Name: "mydb"} })
	assert.Equal(t, w.owner, b.Spec.InstanceRef.Namespace)
	w.there(b)
	assert.Len(t, w.broker.Bindings(), 1)
	assert.Empty(t, w.broker.Calls(osbtest.Of(osbtest.Unbind)))
	assert.True(t, apierrors.IsInvalid(w.edited(b, func() { b.Spec.InstanceRef.Namespace = "other" })), "it cannot be moved")
}

// svcat asks for both halves of it, and shows what came of it.
func TestSharingBySvcat(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	assert.Contains(t, w.svcatFails("bind", "mydb", "--instance-namespace", w.owner, "-n", w.consumer), "it is not there, it is not shared")
	assert.Contains(t, w.svcat("share", "mydb", "--with", w.consumer, "-n", w.owner), "is shared with namespaces "+w.consumer)
	assert.Contains(t, w.svcat("bind", "mydb", "--instance-namespace", w.owner, "-n", w.consumer, "--wait"), w.owner+"/mydb")
	assert.Contains(t, w.svcat("describe", "binding", "mydb", "-n", w.consumer), w.owner+"/mydb")
	explained := w.svcat("explain", "binding/mydb", "-n", w.consumer)
	assert.Contains(t, explained, w.name("db")+"/small")
	assert.NotContains(t, explained, "it is not shared")
	w.svcat("share", "mydb", "--nobody", "-n", w.owner)
	b := w.binding("mydb", "mydb")
	w.HasCondition(b, api.ConditionShared, api.ConditionFalse, "")
	assert.Contains(t, w.svcat("describe", "binding", "mydb", "-n", w.consumer), "SharingWithdrawn")
	w.svcat("share", "mydb", "--with-selector", "team=shop", "--unbind", "-n", w.owner)
	w.Gone(b)
	w.svcatFails("share", "mydb", "-n", w.owner)
}
