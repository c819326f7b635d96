package claims_test

import (
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

// TestDeletionEnds: whichever way a binding is deleted, it unbinds, then deprovisions, and
// neither waits for the other.
func TestDeletionEnds(t *testing.T) {
	t.Parallel()
	for name, how := range map[string]metav1.DeletionPropagation{
		"Foreground": metav1.DeletePropagationForeground, "Background": metav1.DeletePropagationBackground,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newShop(t)
			slowly(s)
			b := s.claimed()
			s.Delete(b, client.PropagationPolicy(how))
			s.nothingIsLeft(b)
		})
	}
	t.Run("Namespace", func(t *testing.T) {
		t.Parallel()
		s := newShop(t)
		slowly(s)
		b := s.claimed()
		namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: s.Namespace}}
		s.Delete(namespace)
		s.nothingIsLeft(b)
		s.Gone(namespace)
	})
	t.Run("BeforeItIsProvisioned", func(t *testing.T) {
		t.Parallel()
		s := newShop(t)
		s.broker.Async(osbtest.Provision, -1)
		b := s.claim()
		s.Create(b)
		s.HasCondition(b, api.ConditionReady, api.ConditionUnknown, "Provisioning")
		s.ends(b)
	})
}

// TestOrphanedInstanceStays: --cascade=orphan unbinds, and leaves the instance as one that
// is not dedicated any more; then it is deleted as any other.
func TestOrphanedInstanceStays(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	b := s.claimed()
	s.Delete(b, client.PropagationPolicy(metav1.DeletePropagationOrphan))
	s.Gone(b)
	own := s.own(b)
	s.Get(own)
	_, dedicated := own.DedicatedTo()
	assert.False(t, dedicated)
	assert.Nil(t, own.DeletionTimestamp)
	assert.Empty(t, s.broker.Bindings())
	assert.Len(t, s.broker.Instances(), 1)
	s.Delete(own)
	s.Gone(own)
	assert.Empty(t, s.broker.Instances())
	s.broker.AssertDuties(t)
}

// TestUserDeletesTheInstance: it waits for the binding, both say so, and it is not made
// again once it is gone.
func TestUserDeletesTheInstance(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	b := s.claimed()
	own := s.own(b)
	s.Delete(own)
	held := s.HasCondition(own, api.ConditionReady, api.ConditionFalse, "DeprovisionBlockedByExistingCredentials")
	assert.Contains(t, held.Message, b.Name)
	s.HasCondition(b, api.ConditionReady, api.ConditionTrue, "InstanceBeingDeleted")
	_, bound := s.only()
	secret := s.Secret(b.Name)
	s.Get(secret)
	assert.Equal(t, bound.Credentials["password"], string(secret.Data["password"]), "its credentials hold")
	s.ends(b)
}

// TestInstanceThatIsGone: a user removed the instance by force. The binding is
// not ready any more, and gets no empty one in its place.
func TestInstanceThatIsGone(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	b := s.claimed()
	own := s.own(b)
	s.Change(own, func() { own.Annotations[api.AnnotationAbandon] = "true" })
	s.Delete(own)
	s.Gone(own)
	s.HasCondition(b, api.ConditionReady, api.ConditionFalse, "InstanceGone")
	s.HasCondition(b, api.ConditionStalled, api.ConditionTrue, "InstanceGone")
	assert.True(t, s.Absent(own))
	assert.Len(t, s.broker.Calls(osbtest.Of(osbtest.Provision)), 1)
	s.Delete(b)
	s.Gone(b)
	assert.Empty(t, s.broker.Bindings(), "it was unbound")
	assert.Len(t, s.broker.Instances(), 1, "who abandons leaves it where it is")
}

// TestAbandonIsPassedOn: a broker that refuses keeps neither the binding nor its instance,
// if their user says so.
func TestAbandonIsPassedOn(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	b := s.claimed()
	s.broker.On(func(call osbtest.Call) osbtest.Fault {
		if call.Verb == osbtest.Unbind || call.Verb == osbtest.Deprovision {
			return osbtest.Status(400, `{"description": "never"}`)
		}
		return osbtest.Fault{}
	})
	s.Delete(b)
	s.HasCondition(b, api.ConditionReady, api.ConditionFalse, "UnbindCallFailed")
	s.Change(b, func() { b.Annotations[api.AnnotationAbandon] = "true" })
	s.Gone(b)
	assert.True(t, s.Absent(s.own(b)))
	s.HasEvent(b, "Abandoned")
	s.HasEvent(s.own(b), "Abandoned")
	assert.Len(t, s.broker.Instances(), 1, "it stays where it is")
}

// TestDeprovisionThatFails: the binding says why it does not go.
func TestDeprovisionThatFails(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	b := s.claimed()
	s.broker.Next(osbtest.Deprovision, osbtest.Status(400, `{"description": "a backup runs"}`), osbtest.Status(500, `{"description": "a backup runs"}`))
	s.Delete(b)
	told := s.HasCondition(b, api.ConditionReady, api.ConditionFalse, "DeprovisionCallFailed")
	assert.Contains(t, told.Message, "a backup runs")
	s.nothingIsLeft(b)
}

// TestBrokerThatIsGone: with its broker not registered any more all of it can go, and a
// warning tells of what stays.
func TestBrokerThatIsGone(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	b := s.claimed()
	s.Delete(s.registered)
	s.Change(s.registered, func() { s.registered.Finalizers = nil })
	s.Gone(s.registered)
	s.Delete(b)
	s.Gone(b)
	assert.True(t, s.Absent(s.own(b)))
	assert.Contains(t, s.HasEvent(b, "Abandoned").Note, "not registered any more")
	assert.Len(t, s.broker.Instances(), 1)
}

// TestNobodyElseBinds: neither now, nor by waiting for the name.
func TestNobodyElseBinds(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	b := s.claimed()
	other := s.Binding("other", s.own(b).Name)
	err := s.Client().Create(t.Context(), other)
	require.True(t, apierrors.IsForbidden(err), "%v", err)
	assert.Contains(t, err.Error(), b.Name)
	s.ends(b)
}

const guard, unguard = `{"metadata":{"annotations":{"` + api.AnnotationPreventDeletion + `":"true"}}}`, `{"metadata":{"annotations":{"` + api.AnnotationPreventDeletion + `":null}}}`

// TestGuardedClaim: the plan's guard is the claim's, with which the instance would go, and that of its
// instance, which the controller may delete all the same.
func TestGuardedClaim(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	s.Patch(s.plan(), guard)
	s.Eventually(func() (bool, error) { // the webhook learns of it by a watch
		trial := s.claim()
		err := s.Client().Create(t.Context(), trial, client.DryRunAll)
		return err != nil || trial.Annotations[api.AnnotationPreventDeletion] == "true", err
	})
	b := s.claimed()
	assert.Equal(t, "true", b.Annotations[api.AnnotationPreventDeletion])
	err := s.Client().Delete(t.Context(), b)
	require.True(t, apierrors.IsForbidden(err), "%v", err)
	assert.ErrorContains(t, err, "kubectl annotate servicebindings orders -n "+s.Namespace+" "+api.AnnotationPreventDeletion+"-")

	err = s.Client().Delete(t.Context(), s.own(b))
	require.True(t, apierrors.IsForbidden(err), "%v", err)

	s.Patch(b, unguard)
	s.ends(b)
}

// TestGuardedBindingCascades: a guarded binding goes with its instance where that says so.
func TestGuardedBindingCascades(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	i := s.CreateInstance("mine", func(i *api.ServiceInstance) {
		i.Spec.ClusterServiceClassExternalName = s.Name("db")
		i.Annotations = map[string]string{api.AnnotationCascade: "true"}
	})
	s.Ready(i)
	b := s.Binding("creds", "mine", func(b *api.ServiceBinding) { b.Annotations = map[string]string{api.AnnotationPreventDeletion: "true"} })
	s.Create(b)
	s.Ready(b)
	s.Delete(i)
	s.Gone(b, i)
	assert.Empty(t, s.broker.Instances())
}
