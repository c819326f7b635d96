package controller

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/osb/controller/dedicated"
	"github.com/defaultplan/defaultplan/osb/osbtest"
)

// One object in, one Secret out.
func TestClaim(t *testing.T) {
	t.Parallel()
	w := newClaimWorld(t)
	b, _ := w.pass()
	assert.Equal(t, []string{"create ServiceInstance", "patch status ServiceBinding"}, w.took())
	require.NotNil(t, b.Status.InstanceRef)
	assert.Equal(t, w.own.Name, b.Status.InstanceRef.Name)
	assert.Equal(t, dedicated.ReasonProvisioning, says(b).Reason)
	assert.Equal(t, v1beta1.ConditionUnknown, says(b).Status)
	want, err := v1beta1.DedicatedInstance(b)
	require.NoError(t, err)
	assert.Equal(t, want.Spec, w.instance().Spec)
	assert.Equal(t, want.OwnerReferences, w.instance().OwnerReferences)
	again, _ := w.pass()
	assert.Equal(t, b.ResourceVersion, again.ResourceVersion, "it rests until its instance is there")
	assert.Empty(t, w.broker.Calls(osbtest.Of(osbtest.Bind)))
	w.becomes(provisioned)
	b, _ = w.pass()
	require.NotNil(t, b.Status.Binding)
	assert.Equal(t, v1beta1.ConditionTrue, says(b).Status)
	w.took()

	require.NoError(t, w.cache.Delete(t.Context(), b))
	b, _ = w.pass()
	require.NotNil(t, b, "it goes after its instance")
	assert.Equal(t, v1beta1.UnbindSucceeded, b.Status.UnbindStatus)
	assert.Equal(t, dedicated.ReasonDeprovisioning, says(b).Reason)
	assert.Nil(t, w.instance().DeletionTimestamp, "nothing is removed before that is known")
	w.pass()
	assert.NotNil(t, w.instance().DeletionTimestamp)
	w.becomes(saying(v1beta1.NotReady("DeprovisionCallFailed", "the broker does not like it")))
	b, _ = w.pass()
	assert.Equal(t, "DeprovisionCallFailed", says(b).Reason)
	assert.Contains(t, says(b).Message, "the broker does not like it")
	w.lets()
	b, _ = w.pass()
	assert.Nil(t, b)
	assert.Empty(t, w.broker.Bindings())
}

// What the instance says is what the binding says, until it can be bound to.
func TestClaimSaysWhatItsInstanceSays(t *testing.T) {
	t.Parallel()
	const why = "the broker does not like it"
	for name, test := range map[string]struct {
		reason string
		edit   func(*v1beta1.ServiceInstance)
		want   v1beta1.Condition
		failed bool
	}{
		"New":      {"nothing is known of it yet", func(*v1beta1.ServiceInstance) {}, v1beta1.Waiting(dedicated.ReasonProvisioning, "is being provisioned"), false},
		"InFlight": {"it is asked for", saying(v1beta1.Waiting("ProvisionRequestInFlight", why)), v1beta1.Waiting("ProvisionRequestInFlight", why), false},
		"Retried":  {"another try follows", saying(v1beta1.NotReady("ErrorCallingProvision", why), v1beta1.Reconciling("ErrorCallingProvision", why)), v1beta1.Waiting("ErrorCallingProvision", why), false},
		"Failed":   {"no other try follows", saying(v1beta1.NotReady("ProvisionCallFailed", why), v1beta1.Failed("ProvisionCallFailed", why), v1beta1.Stalled("ProvisionCallFailed", why)), v1beta1.NotReady("ProvisionCallFailed", why), true},
		"Stuck":    {"someone must act, and it goes on", saying(v1beta1.NotReady("ErrorWithParameters", why), v1beta1.Stalled("ErrorWithParameters", why)), v1beta1.NotReady("ErrorWithParameters", why), false},
		"OldFailed": {"it was edited since", func(i *v1beta1.ServiceInstance) {
			saying(v1beta1.Failed("A", why))(i)
			i.Status.Conditions[0].ObservedGeneration = 7
		}, v1beta1.Waiting(dedicated.ReasonProvisioning, ""), false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newClaimWorld(t)
			w.pass()
			w.becomes(test.edit)
			b, _ := w.pass()
			assert.Equal(t, test.want.Reason, says(b).Reason, test.reason)
			assert.Equal(t, test.want.Status, says(b).Status, test.reason)
			assert.Contains(t, says(b).Message, test.want.Message)
			_, failed := v1beta1.FindCondition(b.Status.Conditions, v1beta1.ConditionFailed)
			assert.Equal(t, test.failed, failed, test.reason)
			w.becomes(func(i *v1beta1.ServiceInstance) { provisioned(i) })
			b, _ = w.pass()
			assert.Equal(t, v1beta1.ConditionTrue, says(b).Status, "and it goes on as soon as it can")
		})
	}
}

// An instance that is gone is not created again, whether it was bound or not.
func TestClaimWhoseInstanceIsGone(t *testing.T) {
	t.Parallel()
	for name, bound := range map[string]bool{"Bound": true, "NotYet": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newClaimWorld(t)
			w.pass()
			if bound {
				w.becomes(provisioned)
				w.pass()
			}
			require.NoError(t, w.cache.Delete(t.Context(), w.instance()))
			if instance := w.instance(); instance != nil {
				b, _ := w.pass()
				assert.Equal(t, v1beta1.ConditionTrue, says(b).Status, "its credentials hold as long as it is not deleted")
				assert.Equal(t, dedicated.ReasonInstanceGoing, says(b).Reason)
				w.lets()
			}
			b, _ := w.pass()
			assert.Equal(t, dedicated.ReasonInstanceGone, says(b).Reason)
			assert.Equal(t, v1beta1.ConditionFalse, says(b).Status)
			w.pass()
			assert.Nil(t, w.instance())
			require.NoError(t, w.cache.Delete(t.Context(), b))
			b, _ = w.pass()
			assert.Nil(t, b)
			assert.Empty(t, w.broker.Bindings())
		})
	}
}

// What has the instance's name and is not the binding's is left alone.
func TestClaimWhoseNameIsTaken(t *testing.T) {
	t.Parallel()
	w := newClaimWorld(t)
	squatter := &v1beta1.ServiceInstance{ObjectMeta: metav1.ObjectMeta{Namespace: w.own.Namespace, Name: w.own.Name}}
	require.NoError(t, w.cache.Create(t.Context(), squatter))
	b, _ := w.pass()
	assert.Equal(t, dedicated.ReasonInstanceTaken, says(b).Reason)
	assert.Nil(t, b.Status.InstanceRef)
	require.NoError(t, w.cache.Delete(t.Context(), b))
	b, _ = w.pass()
	assert.Nil(t, b)
	assert.NotNil(t, w.instance())
}

// A cache that lags, and a status that was not written, make no second instance.
func TestClaimIsMadeOnce(t *testing.T) {
	t.Parallel()
	w := newClaimWorld(t)
	w.fail["patch status ServiceBinding"] = apierrors.NewConflict(schema.GroupResource{}, "b", errors.New("changed"))
	b, _ := w.pass()
	require.Nil(t, b.Status.InstanceRef)
	made := w.instance()
	b, _ = w.pass()
	assert.Equal(t, made.UID, w.instance().UID)
	assert.Equal(t, w.own.Name, b.Status.InstanceRef.Name)
}

// What the API server refuses is told, and tried again in time.
func TestClaimThatIsRefused(t *testing.T) {
	t.Parallel()
	w := newClaimWorld(t)
	w.fail["create ServiceInstance"] = apierrors.NewForbidden(schema.GroupResource{Resource: "serviceinstances"}, w.own.Name, errors.New("exceeded quota"))
	b, result := w.pass()
	assert.Equal(t, dedicated.ReasonInstanceRefused, says(b).Reason)
	assert.Contains(t, says(b).Message, "exceeded quota")
	assert.Positive(t, result.RequeueAfter)
	w.pass()
	assert.NotNil(t, w.instance())
}

func TestUndecidedClaimWaits(t *testing.T) {
	t.Parallel()
	w := newClaimWorld(t, func(b *v1beta1.ServiceBinding) { b.Spec.DecidedReference = v1beta1.DecidedReference{} })
	b, _ := w.pass()
	assert.Equal(t, "Undecided", says(b).Reason)
	resolved, _ := v1beta1.FindCondition(b.Status.Conditions, v1beta1.ConditionResolved)
	assert.Equal(t, v1beta1.ConditionFalse, resolved.Status)
	assert.Nil(t, w.instance())
}
