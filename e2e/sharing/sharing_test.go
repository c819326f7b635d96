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
	p := newPair(t, nil)
	alice := p.user("alice")
	b := p.binding("creds", "mydb")
	assert.Equal(t, "NotShared", alice.refused(b), "closed by default")
	alice.mayBind()
	assert.Equal(t, "NotShared", alice.refused(b), "a right is no consent")
	p.share(with("elsewhere"))
	assert.Equal(t, "NotShared", alice.refused(b), "consent is for those who are named")
	p.share(with("elsewhere", p.consumer))
	require.NoError(t, alice.client.Create(t.Context(), b))
	p.Ready(b)
	assert.Equal(t, alice.name, b.Spec.UserInfo.Username)
	assert.Equal(t, "creds", b.Status.Binding.Name)
	assert.NotEmpty(t, p.ReadSecret("creds").Data)
	bound := p.broker.Bindings()
	require.Len(t, bound, 1)
	for _, binding := range bound {
		assert.Equal(t, p.consumer, binding.Context["namespace"], "it is asked for in the consumer's namespace")
	}
	p.Delete(b)
	p.Gone(b)
	assert.Empty(t, p.broker.Bindings())
}

// A namespace may be named by its labels, too, and is let in and shut out as they change.
func TestAnInstanceIsSharedByLabel(t *testing.T) {
	t.Parallel()
	p := newPair(t, &api.Sharing{NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"team": "shop"}}})
	alice := p.user("alice")
	alice.mayBind()
	b := p.binding("creds", "mydb")
	assert.Equal(t, "NotShared", alice.refused(b))
	p.label("shop")
	require.NoError(t, alice.client.Create(t.Context(), b))
	p.Ready(b)
	p.label("billing")
	p.HasCondition(b, api.ConditionShared, api.ConditionFalse, "")
	p.label("shop")
	p.unsaid(b)
}

// It does not wait for an instance: what there is not yet is refused as what there never is.
func TestASharedBindingNeverWaits(t *testing.T) {
	t.Parallel()
	p := newPair(t, with("none"))
	alice := p.user("alice")
	alice.mayBind()
	assert.Equal(t, "NotShared", alice.refused(p.binding("creds", "later")))
	var list api.ServiceBindingList
	require.NoError(t, alice.client.List(t.Context(), &list, client.InNamespace(p.consumer)))
	assert.Empty(t, list.Items)
}

// Policies hold, of the binding's namespace.
func TestPoliciesHoldAcrossNamespaces(t *testing.T) {
	t.Parallel()
	p := newPair(t, nil)
	p.share(with(p.consumer))
	alice := p.user("alice")
	alice.mayBind()
	for name, policy := range map[string]func(api.PolicyRule) client.Object{
		"binding": func(rule api.PolicyRule) client.Object {
			return &api.BindingPolicy{ObjectMeta: metav1.ObjectMeta{Name: p.Name("b")}, Spec: api.BindingPolicySpec{
				PolicyRule: rule, Subjects: []api.BindingPolicySubject{{Instance: &api.PolicyInstance{Namespace: p.owner, Name: "mydb"}}},
			}}
		},
		"provisioning": func(rule api.PolicyRule) client.Object {
			return &api.ProvisioningPolicy{ObjectMeta: metav1.ObjectMeta{Name: p.Name("p")}, Spec: api.ProvisioningPolicySpec{
				PolicyRule: rule, Subjects: []api.PolicySubject{{PlanSubject: api.PlanSubject{ClassName: p.Name("db")}}},
			}}
		},
	} {
		made := policy(api.PolicyRule{Action: api.PolicyDeny, Message: "ask the database team", Namespaces: &api.PolicyNamespaces{Names: []string{p.consumer}}})
		p.Create(made)
		p.Eventually(func() (bool, error) { return alice.refused(p.binding("creds", "mydb")) == "PolicyDenied", nil })
		p.Delete(made)
		p.Eventually(func() (bool, error) {
			err := alice.try(p.binding("creds-"+name, "mydb"))
			return err == nil, nil
		})
	}
}

// An old client knows neither sharing nor the namespace of an instance: what it replaces stays as it was.
func TestOldClientsChangeNothing(t *testing.T) {
	t.Parallel()
	p := newPair(t, nil)
	p.share(thenUnbind(with(p.consumer)))
	b := p.bound("creds")
	p.Change(p.instance, func() { p.instance.Spec.Sharing = nil })
	assert.Equal(t, []string{p.consumer}, p.instance.Spec.Sharing.Namespaces)
	p.Change(b, func() { b.Spec.InstanceRef = &api.InstanceReference{Name: "mydb"} })
	assert.Equal(t, p.owner, b.Spec.InstanceRef.Namespace)
	p.there(b)
	assert.Len(t, p.broker.Bindings(), 1)
	assert.Empty(t, p.broker.Calls(osbtest.Of(osbtest.Unbind)))
	assert.True(t, apierrors.IsInvalid(p.edited(b, func() { b.Spec.InstanceRef.Namespace = "other" })), "it cannot be moved")
}

// svcat asks for both halves of it, and shows what came of it.
func TestSharingBySvcat(t *testing.T) {
	t.Parallel()
	p := newPair(t, nil)
	assert.Contains(t, p.SvcatFails(1, "bind", "mydb", "--instance-namespace", p.owner, "-n", p.consumer), "it is not there, it is not shared")
	assert.Contains(t, p.Svcat("share", "mydb", "--with", p.consumer, "-n", p.owner), "is shared with namespaces "+p.consumer)
	assert.Contains(t, p.Svcat("bind", "mydb", "--instance-namespace", p.owner, "-n", p.consumer, "--wait"), p.owner+"/mydb")
	assert.Contains(t, p.Svcat("describe", "binding", "mydb", "-n", p.consumer), p.owner+"/mydb")
	explained := p.Svcat("explain", "binding/mydb", "-n", p.consumer)
	assert.Contains(t, explained, p.Name("db")+"/small")
	assert.NotContains(t, explained, "it is not shared")
	p.Svcat("share", "mydb", "--nobody", "-n", p.owner)
	b := p.binding("mydb", "mydb")
	p.HasCondition(b, api.ConditionShared, api.ConditionFalse, "")
	assert.Contains(t, p.Svcat("describe", "binding", "mydb", "-n", p.consumer), "SharingWithdrawn")
	p.Svcat("share", "mydb", "--with-selector", "team=shop", "--unbind", "-n", p.owner)
	p.Gone(b)
	p.SvcatFails(2, "share", "mydb", "-n", p.owner)
}
