package sharing_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/osb/osbtest"
)

// An attacker may write bindings in the consumer's namespace, and wants to know whether there is an instance in the
// owner's. Whatever way she asks, the answer is the same, to the byte, for one that is not there, one that is not hers to
// bind to, and one that is not shared.
func TestNobodyLearnsWhatIsThere(t *testing.T) {
	t.Parallel()
	p := newPair(t, nil)
	eve := p.user("eve")
	waits := p.Binding("waits", "hidden")
	require.NoError(t, eve.client.Create(t.Context(), waits), "one of her own namespace, which waits")
	nothing := eve.probes(waits)
	for way, answer := range nothing {
		assert.Contains(t, answer, "it is not there, it is not shared with that namespace", way)
	}

	hidden := p.database("hidden", nil)
	p.Create(hidden)
	p.Ready(hidden)
	assert.Equal(t, nothing, eve.probes(waits), "it is there, and not shared")
	p.Change(hidden, func() { hidden.Spec.Sharing = with(p.consumer) })
	assert.Equal(t, nothing, eve.probes(waits), "it is shared, and she may not bind to it")
	p.Change(hidden, func() { hidden.Spec.Sharing = &api.Sharing{} })
	eve.mayBind()
	assert.Equal(t, nothing, eve.probes(waits), "she may bind to it, and it is not shared any more")
	p.Delete(hidden)
	p.Gone(hidden)
	assert.Equal(t, nothing, eve.probes(waits), "it is gone, and she may bind to what there is")
}

// probes are the answers to all the ways to ask for the instance hidden of the owner.
func (u *user) probes(waits *api.ServiceBinding) map[string]string {
	u.Helper()
	answers := map[string]string{}
	note := func(way string, err error) {
		var status apierrors.APIStatus
		require.ErrorAs(u, err, &status, way)
		text, err := json.Marshal(status.Status())
		require.NoError(u, err)
		answers[way] = string(text)
	}
	for way, edit := range map[string]func(*api.ServiceBinding){
		"Plain":        func(*api.ServiceBinding) {},
		"GenerateName": func(b *api.ServiceBinding) { b.Name, b.GenerateName = "", "probe-" },
		"WrongType":    func(b *api.ServiceBinding) { b.Spec.ServiceType = "no-such-type" },
		"WrongPlan": func(b *api.ServiceBinding) {
			b.Spec.ClusterServicePlanExternalName, b.Spec.ClusterServiceClassExternalName = "x", "y"
		},
		"Parameters": func(b *api.ServiceBinding) { b.Spec.SecretName = "waits" },
		"GivenID":    func(b *api.ServiceBinding) { b.Spec.ExternalID = "an-id" },
		"Backup": func(b *api.ServiceBinding) {
			b.Spec.ExternalID = "an-id"
			b.Spec.ClusterServicePlanRef, b.Spec.ClusterServiceClassRef = &api.ClusterObjectReference{Name: "p"}, &api.ClusterObjectReference{Name: "c"}
		},
	} {
		b := u.binding("probe", "hidden")
		edit(b)
		note("Create"+way, u.client.Create(u.Context(), b.DeepCopy()))
		note("DryRun"+way, u.client.Create(u.Context(), b, client.DryRunAll))
	}
	u.Get(waits)
	moved := waits.DeepCopy()
	moved.Spec.InstanceRef = &api.InstanceReference{Name: "hidden", Namespace: u.owner}
	note("Update", u.client.Update(u.Context(), moved.DeepCopy()))
	note("UpdateDryRun", u.client.Update(u.Context(), moved.DeepCopy(), client.DryRunAll))
	note("Patch", u.client.Patch(u.Context(), moved, client.MergeFrom(waits)))
	return answers
}

// A binding that is decided cannot be turned to another's instance, by whatever kind of write.
func TestABindingIsNotTurned(t *testing.T) {
	t.Parallel()
	p := newPair(t, nil)
	eve := p.user("eve")
	own := p.database("own", nil)
	own.Namespace = p.consumer
	p.Create(own)
	b := p.Binding("creds", "own")
	require.NoError(t, eve.client.Create(t.Context(), b))
	p.Ready(b)
	for _, ref := range []api.InstanceReference{{Name: "own", Namespace: p.owner}, {Name: "mydb", Namespace: p.owner}, {Name: "mydb"}} {
		turned := b.DeepCopy()
		turned.Spec.InstanceRef = &ref
		assert.Error(t, eve.client.Update(t.Context(), turned.DeepCopy()))
		assert.Error(t, eve.client.Patch(t.Context(), turned, client.MergeFrom(b)))
	}
	forged := b.DeepCopy()
	forged.Status.ExternalProperties.InstanceExternalID = p.instance.Spec.ExternalID
	assert.True(t, apierrors.IsForbidden(eve.client.Status().Patch(t.Context(), forged, client.MergeFrom(b))), "nor its status")
	p.Get(b)
	assert.Equal(t, &api.InstanceReference{Name: "own"}, b.Spec.InstanceRef)
}

// Consent is the owner's: who may look at the instance, bind to it, or write anywhere else cannot give it.
func TestNobodySharesForTheOwner(t *testing.T) {
	t.Parallel()
	p := newPair(t, nil)
	eve := p.user("eve")
	eve.mayBind()
	eve.may(p.owner, []string{"serviceinstances"}, "get", "list", "watch", "create")
	seen := p.instance.DeepCopy()
	require.NoError(t, eve.client.Get(t.Context(), client.ObjectKeyFromObject(seen), seen))
	shared := seen.DeepCopy()
	shared.Spec.Sharing = with(p.consumer)
	assert.True(t, apierrors.IsForbidden(eve.client.Update(t.Context(), shared.DeepCopy())))
	assert.True(t, apierrors.IsForbidden(eve.client.Patch(t.Context(), shared.DeepCopy(), client.MergeFrom(seen))))
	assert.True(t, apierrors.IsForbidden(eve.client.Status().Update(t.Context(), shared.DeepCopy())))
	assert.True(t, apierrors.IsAlreadyExists(eve.client.Create(t.Context(), p.database("mydb", with(p.consumer)))))
	assert.Equal(t, "NotShared", eve.refused(p.binding("creds", "mydb")))
	forged := p.binding("creds", "mydb")
	forged.Spec.UserInfo = &api.UserInfo{Username: "admin", Groups: []string{"system:masters"}}
	assert.Equal(t, "NotShared", eve.refused(forged), "nor does she bind as another user")
}

// The sharer writes plans of his namespace, whose transforms become the binding's. They bring no Secret that the
// binding's user may not read herself: not hers, and not his; and she brings none of his.
func TestNobodyReadsSecretsByAPlan(t *testing.T) {
	t.Parallel()
	p := newPair(t, nil)
	alice := p.user("alice")
	alice.mayBind()
	for _, place := range []string{p.owner, p.consumer} {
		p.Create(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: place, Name: "payroll"}, StringData: map[string]string{"salary": "canary-" + place}})
	}
	for _, from := range []string{"", p.consumer} {
		assert.ErrorContains(t, p.plan("hers", from), "only Secrets of that namespace can be named")
	}
	require.NoError(t, p.plan("his", p.owner))
	i := &api.ServiceInstance{ObjectMeta: metav1.ObjectMeta{Namespace: p.owner, Name: "his"}}
	i.Spec.ServiceClassName, i.Spec.ServicePlanName, i.Spec.Sharing = "class-his", "plan-his", with(p.consumer)
	p.Create(i)
	assert.Equal(t, "SecretForbidden", alice.refused(p.binding("creds", "his")))
	mine := p.binding("creds", "mydb")
	mine.Spec.SecretTransforms = []api.SecretTransform{addKeys("payroll", p.owner)}
	p.share(with(p.consumer))
	assert.Equal(t, "SecretForbidden", alice.refused(mine), "nor does her own transform")
	alice.mayRead(p.consumer)
	assert.Equal(t, "SecretForbidden", alice.refused(p.binding("creds", "his")))
	assert.Equal(t, "SecretForbidden", alice.refused(mine))
	alice.mayRead(p.owner)
	assert.Empty(t, alice.refused(p.binding("creds", "his")), "what she may read she may have")
}

// plan is a plan of the owner's namespace whose transforms add the Secret payroll of a namespace, the binding's if empty.
func (p *pair) plan(name, from string) error {
	p.Helper()
	class := &api.ServiceClass{ObjectMeta: metav1.ObjectMeta{Namespace: p.owner, Name: "class-" + name}}
	class.Spec.ExternalName, class.Spec.ExternalID, class.Spec.Bindable, class.Spec.Description = name, p.Name(name), true, "d"
	class.Spec.ServiceBrokerName = "none"
	plan := &api.ServicePlan{ObjectMeta: metav1.ObjectMeta{Namespace: p.owner, Name: "plan-" + name}}
	plan.Spec.ExternalName, plan.Spec.ExternalID, plan.Spec.Description = name, p.Name(name), "d"
	plan.Spec.ServiceBrokerName, plan.Spec.ServiceClassRef.Name = "none", class.Name
	plan.Spec.DefaultSecretTransforms = []api.SecretTransform{addKeys("payroll", from)}
	if err := p.Client().Create(p.Context(), class); client.IgnoreAlreadyExists(err) != nil {
		return err
	}
	return p.Client().Create(p.Context(), plan)
}

func addKeys(secret, namespace string) api.SecretTransform {
	return api.SecretTransform{AddKeysFrom: &api.AddKeysFromTransform{SecretRef: &api.ObjectReference{Name: secret, Namespace: namespace}}}
}

// The name of another's Secret is not to be had: neither that of another
// binding, nor one without an owner.
func TestNobodysSecretIsOverwritten(t *testing.T) {
	t.Parallel()
	p := newPair(t, nil)
	p.share(with(p.consumer))
	eve := p.user("eve")
	eve.mayBind()
	p.bound("creds")
	squats := p.binding("squats", "mydb")
	squats.Spec.SecretName = "creds"
	assert.Equal(t, "SecretReserved", eve.refused(squats))
	p.Create(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: p.consumer, Name: "payroll"}, StringData: map[string]string{"salary": "secret"}})
	before := p.ReadSecret("payroll")
	squats.Spec.SecretName = "payroll"
	require.NoError(t, eve.client.Create(t.Context(), squats))
	var said api.Condition
	p.Eventually(func() (bool, error) {
		said = p.HasCondition(squats, api.ConditionReady, api.ConditionUnknown, "")
		return said.Reason == "ErrorInjectingBindResult", nil
	})
	assert.Equal(t, before, p.ReadSecret("payroll"))
	assert.Len(t, p.broker.Bindings(), 1, "its broker is not even asked")
	p.Delete(squats)
	p.Gone(squats)
	assert.Equal(t, before, p.ReadSecret("payroll"))
	assert.Len(t, p.broker.Calls(osbtest.Of(osbtest.Bind)), 1)
}
