package controller

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/osb"
	"github.com/defaultplan/defaultplan/osb/controller/credentials"
	"github.com/defaultplan/defaultplan/osb/controller/deposit"
	"github.com/defaultplan/defaultplan/osb/controller/endpoints"
	"github.com/defaultplan/defaultplan/osb/lifecycle"
	"github.com/defaultplan/defaultplan/osb/osbtest"
)

// An adoptWorld has one binding, b, that is to be adopted, and a broker that has it, made by
// another cluster with the parameter role=reader.
type adoptWorld struct {
	*bindingWorld

	// before is how often the broker was called to bind before.
	before int
}

const theirs = "theirs"

// adopting is the manifest of what the broker has.
func adopting(b *v1beta1.ServiceBinding) {
	b.Annotations = map[string]string{v1beta1.AnnotationAdopt: "true"}
	b.Spec.ExternalID = theirs
}

// newAdoptWorld begins with a broker that can be asked for a binding, or cannot.
func newAdoptWorld(t *testing.T, fetchable, oneShot bool, edits ...func(*v1beta1.ServiceBinding)) *adoptWorld {
	t.Helper()
	edits = append([]func(*v1beta1.ServiceBinding){adopting}, edits...)
	w := &adoptWorld{bindingWorld: newBindingWorld(t, edits...)}
	if fetchable {
		w.brokerOf("db", `"bindings_retrievable":true`, oneShot)
		w.retrievable()
	}
	w.reconciler.rotating = lifecycle.Rotating{Overlap: time.Hour, Margin: time.Hour, Pause: time.Minute}
	w.bound(theirs)
	t.Cleanup(func() {
		assert.Len(t, w.broker.Calls(osbtest.Of(osbtest.Bind)), w.before, "what is adopted is not bound")
		w.broker.AssertDuties(t, "M2", "M3") // which the other cluster's request lacks
	})
	return w
}

// bound has another cluster bind.
func (w *adoptWorld) bound(id string) {
	w.Helper()
	client, err := osb.New(osb.Config{URL: w.broker.URL})
	require.NoError(w, err)
	_, err = client.Bind(w.Context(), osb.BindRequest{
		InstanceID: "instance-id", BindingID: id, ServiceID: "db", PlanID: "small", Parameters: json.RawMessage(`{"role":"reader"}`),
	})
	require.NoError(w, err)
	w.before++
}

// supplied writes the Secret, as a user or svcat import does.
func (w *adoptWorld) supplied(edits ...func(*corev1.Secret)) *corev1.Secret {
	w.Helper()
	secret := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: "b", UID: "secret-uid", Annotations: map[string]string{v1beta1.AnnotationCredentialsOf: theirs}},
		Type:       corev1.SecretTypeOpaque, Data: map[string][]byte{"carried": []byte("canary")},
	}
	for _, edit := range edits {
		edit(secret)
	}
	require.NoError(w, w.cache.Create(w.Context(), secret))
	return secret
}

// ready holds the condition Ready against a reason, and returns its message.
func (w *adoptWorld) ready(status v1beta1.ConditionStatus, reason string) string {
	w.Helper()
	ready, _ := v1beta1.FindCondition(w.bindingHere().Status.Conditions, v1beta1.ConditionReady)
	require.Equal(w, []string{string(status), reason}, []string{string(ready.Status), ready.Reason}, ready.Message)
	return ready.Message
}

// What the broker has is fetched, transformed, and left there.
func TestBindingIsAdopted(t *testing.T) {
	t.Parallel()
	w := newAdoptWorld(t, true, false, func(b *v1beta1.ServiceBinding) {
		b.Spec.Rotation = &v1beta1.Rotation{Requests: 3}
		b.Spec.SecretTransforms = []v1beta1.SecretTransform{{AddKey: &v1beta1.AddKeyTransform{Key: "added", StringValue: new("a")}}}
	})
	w.pass()
	w.ready(v1beta1.ConditionTrue, lifecycle.ReasonAdopted)
	b, secret := w.bindingHere(), w.secretHere("b")
	assert.Equal(t, theirs, b.Status.ExternalID)
	assert.Equal(t, v1beta1.UnbindNotRequired, b.Status.UnbindStatus)
	assert.Equal(t, "b", b.Status.Binding.Name)
	assert.Equal(t, []byte("a"), secret.Data["added"])
	assert.True(t, metav1.IsControlledBy(secret, b))
	before := b.ResourceVersion
	w.pass()
	assert.Equal(t, before, w.bindingHere().ResourceVersion, "requests for a rotation were served elsewhere")

	require.NoError(t, w.cache.Delete(t.Context(), secret))
	w.pass()
	assert.Equal(t, secret.Data, w.secretHere("b").Data, "a lost Secret is fetched again")
	w.ready(v1beta1.ConditionTrue, lifecycle.ReasonAdopted)

	require.NoError(t, w.cache.Delete(t.Context(), w.bindingHere()))
	b, _ = w.pass()
	assert.Nil(t, b)
	assert.Len(t, w.broker.Bindings(), 1, "it stays")
	assert.Empty(t, w.broker.Calls(osbtest.Of(osbtest.Unbind)))
}

// Parameters that are not sent are validated by no schema: it may have changed since.
func TestBindingIsAdoptedWithoutSchema(t *testing.T) {
	t.Parallel()
	w := newAdoptWorld(t, true, false, withSecretParameters)
	w.giveParameters()
	w.requireSize()
	w.pass()
	w.ready(v1beta1.ConditionTrue, lifecycle.ReasonAdopted)
}

// What differs, or is not there, is not adopted, and no Secret is written.
func TestBindingIsComparedAndNotMade(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		edit         func(*v1beta1.ServiceBinding)
		reason, says string
	}{
		"Different": {
			edit: func(b *v1beta1.ServiceBinding) {
				b.Spec.Parameters = &runtime.RawExtension{Raw: []byte(`{"role":"canary"}`)}
			},
			reason: "ExternalIDConflict", says: `its parameter "role" has another value`,
		},
		"Absent": {
			edit:   func(b *v1beta1.ServiceBinding) { b.Spec.ExternalID = "mistyped" },
			reason: lifecycle.ReasonNotAtBroker, says: `no binding under the ID "mistyped"`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newAdoptWorld(t, true, false, tc.edit)
			secret := w.supplied(func(s *corev1.Secret) {
				s.Annotations[v1beta1.AnnotationCredentialsOf] = w.bindingHere().Spec.ExternalID
			})
			w.pass()
			message := w.ready(v1beta1.ConditionFalse, tc.reason)
			assert.Contains(t, message, tc.says)
			assert.NotContains(t, message, "canary", "fields are named, values are not")
			assert.Equal(t, secret, w.secretHere("b"), "a Secret that was supplied is not touched")
			require.NoError(t, w.cache.Delete(t.Context(), w.bindingHere()))
			b, _ := w.pass()
			assert.Nil(t, b)
		})
	}
}

// A broker that cannot be asked is not: the Secret that a user supplied is taken over, with
// its content as it is, and is then as any other.
func TestBindingIsAdoptedOnTrust(t *testing.T) {
	t.Parallel()
	w := newAdoptWorld(t, false, false, func(b *v1beta1.ServiceBinding) {
		b.Spec.Rotation = &v1beta1.Rotation{Requests: 3}
		b.Spec.ServiceName = "db"
		b.Spec.SecretTransforms = []v1beta1.SecretTransform{{RenameKey: &v1beta1.RenameKeyTransform{From: "carried", To: "renamed"}}, publishKey("host")}
	})
	supplied := w.supplied()
	calls := len(w.broker.Calls())
	b, _ := w.pass()
	assert.Contains(t, w.ready(v1beta1.ConditionTrue, lifecycle.ReasonAdoptedOnTrust), "taken on trust")
	assert.Contains(t, <-w.recorder.Events, "Warning AdoptedOnTrust")
	assert.Len(t, w.broker.Calls(), calls, "the broker is not called")
	secret := w.secretHere("b")
	assert.Equal(t, supplied.Data, secret.Data, "it was transformed elsewhere")
	assert.Equal(t, supplied.UID, secret.UID)
	assert.True(t, metav1.IsControlledBy(secret, b))
	assert.Equal(t, v1beta1.ManagedByController, secret.Labels[v1beta1.LabelManagedBy])
	assert.Equal(t, "b", b.Status.Binding.Name)
	assert.EqualValues(t, 3, b.Status.Credentials.Requests)
	reason := func(typ string) string {
		c, _ := v1beta1.FindCondition(w.bindingHere().Status.Conditions, typ)
		return c.Reason
	}
	assert.Equal(t, endpoints.ReasonNoEndpoints, reason(v1beta1.ConditionEndpoints), "why there is no Service is said")
	assert.Equal(t, deposit.ReasonConfigMapLost, reason(v1beta1.ConditionPublished), "and why no ConfigMap")
	before := b.ResourceVersion
	w.pass()
	assert.Equal(t, before, w.bindingHere().ResourceVersion)

	require.NoError(t, w.cache.Delete(t.Context(), b))
	b, _ = w.pass()
	assert.Nil(t, b)
	assert.Len(t, w.broker.Bindings(), 1, "it stays")
	assert.Contains(t, <-w.recorder.Events, "Warning Abandoned")
}

// Without the Secret nothing is bound, before and after the adoption; a user who supplies it is
// served, and new credentials are made when they are asked for.
func TestAdoptedCredentialsAreMissing(t *testing.T) {
	t.Parallel()
	w := newAdoptWorld(t, false, false, func(b *v1beta1.ServiceBinding) { b.Spec.Rotation = &v1beta1.Rotation{} })
	w.pass()
	assert.Contains(t, w.ready(v1beta1.ConditionFalse, lifecycle.ReasonCredentialsMissing), `write them to the Secret "b"`)
	_, result := w.pass()
	assert.NotZero(t, result.RequeueAfter, "the Secret is looked for")
	w.supplied()
	w.pass()
	w.ready(v1beta1.ConditionTrue, lifecycle.ReasonAdoptedOnTrust)

	require.NoError(t, w.cache.Delete(t.Context(), w.secretHere("b")))
	w.pass()
	assert.Contains(t, w.ready(v1beta1.ConditionFalse, lifecycle.ReasonCredentialsMissing), "raise spec.rotation.requests")
	w.supplied()
	w.pass()
	w.ready(v1beta1.ConditionTrue, lifecycle.ReasonAdoptedOnTrust)
	assert.True(t, metav1.IsControlledBy(w.secretHere("b"), w.bindingHere()))

	require.NoError(t, w.cache.Delete(t.Context(), w.secretHere("b")))
	w.pass()
	w.request()
	for range 3 {
		w.pass()
	}
	w.before++ // that of the rotation
	b := w.bindingHere()
	assert.NotEqual(t, theirs, b.Status.ExternalID, "new credentials were asked for")
	assert.NotContains(t, w.secretHere("b").Data, "carried")
	w.ready(v1beta1.ConditionTrue, "InjectedBindResult")
}

// A broker that gives credentials once has given them: those that a user supplies are kept.
func TestAdoptedCredentialsAreNotGivenAgain(t *testing.T) {
	t.Parallel()
	w := newAdoptWorld(t, true, true)
	w.pass()
	w.ready(v1beta1.ConditionFalse, lifecycle.ReasonCredentialsMissing)
	supplied := w.supplied()
	w.pass()
	w.ready(v1beta1.ConditionTrue, lifecycle.ReasonAdopted)
	assert.Equal(t, supplied.Data, w.secretHere("b").Data)
	assert.True(t, metav1.IsControlledBy(w.secretHere("b"), w.bindingHere()))
}

// A crash after the Secret was taken over, or written, and before status says so: the same
// comes of it.
func TestAdoptionGoesOnAfterACrash(t *testing.T) {
	t.Parallel()
	for name, fetchable := range map[string]bool{"Trust": false, "Fetched": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newAdoptWorld(t, fetchable, fetchable, func(b *v1beta1.ServiceBinding) { b.Spec.Rotation = &v1beta1.Rotation{Requests: 3} })
			supplied := w.supplied()
			w.pass()
			lost := w.bindingHere()
			lost.Status = v1beta1.ServiceBindingStatus{}
			require.NoError(t, w.cache.Status().Update(t.Context(), lost))
			require.True(t, metav1.IsControlledBy(w.secretHere("b"), w.bindingHere()))
			w.pass()
			w.ready(v1beta1.ConditionTrue, map[bool]string{false: lifecycle.ReasonAdoptedOnTrust, true: lifecycle.ReasonAdopted}[fetchable])
			assert.Equal(t, supplied.Data, w.secretHere("b").Data)
			assert.EqualValues(t, 3, w.bindingHere().Status.Credentials.Requests)
		})
	}
}

// Attack: a binding takes over a Secret that its user could not write. Only one that says
// itself that it is for the binding, and is no object's, is taken.
func TestForeignSecretIsNotTakenOver(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason string
		edit   func(*corev1.Secret)
		says   string
	}{
		"Unmarked":    {"a name is no consent", func(s *corev1.Secret) { s.Annotations = nil }, "not of this binding"},
		"OfAnother":   {"it holds the credentials of another", func(s *corev1.Secret) { s.Annotations[v1beta1.AnnotationCredentialsOf] = "other" }, "not of this binding"},
		"Owned":       {"it is another object's", func(s *corev1.Secret) { s.OwnerReferences = ownedBy(true) }, "not of this binding"},
		"OwnedBeside": {"or belongs to one beside others", func(s *corev1.Secret) { s.OwnerReferences = ownedBy(false) }, "not of this binding"},
		"Token":       {"the cluster fills it in", func(s *corev1.Secret) { s.Type = corev1.SecretTypeServiceAccountToken }, "create it again"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, fetchable := range []bool{false, true} {
				w := newAdoptWorld(t, fetchable, false)
				secret := w.supplied(tc.edit)
				for range 2 {
					w.pass()
				}
				assert.Contains(t, w.ready(map[bool]v1beta1.ConditionStatus{true: v1beta1.ConditionFalse, false: v1beta1.ConditionUnknown}[fetchable && name == "Token"], credentials.ReasonNotStored), tc.says, tc.reason)
				assert.Equal(t, secret, w.secretHere("b"), tc.reason)
			}
		})
	}
	t.Run("WithoutTheMark", func(t *testing.T) {
		t.Parallel()
		w := newAdoptWorld(t, false, false, func(b *v1beta1.ServiceBinding) { b.Annotations = nil })
		secret := w.supplied()
		w.pass()
		assert.Contains(t, w.ready(v1beta1.ConditionUnknown, credentials.ReasonNotStored), "not of this binding")
		assert.Equal(t, secret, w.secretHere("b"))
	})
}

// What was adopted is not compared again: a lost Secret is fetched, whatever the broker or spec says
// of parameters by then.
func TestAdoptedBindingIsNotComparedAgain(t *testing.T) {
	t.Parallel()
	w := newAdoptWorld(t, true, false)
	w.pass()
	b := w.bindingHere()
	b.Spec.Parameters = &runtime.RawExtension{Raw: []byte(`{"role":"writer"}`)}
	require.NoError(t, w.cache.Update(t.Context(), b))
	require.NoError(t, w.cache.Delete(t.Context(), w.secretHere("b")))
	w.pass()
	w.ready(v1beta1.ConditionTrue, lifecycle.ReasonAdopted)
	assert.Contains(t, w.secretHere("b").Data, "password")
}

// The request of a rotation is sent, and so its parameters are validated.
func TestRotationOfAdoptedIsValidated(t *testing.T) {
	t.Parallel()
	w := newAdoptWorld(t, false, false, withSecretParameters, func(b *v1beta1.ServiceBinding) { b.Spec.Rotation = &v1beta1.Rotation{} })
	w.giveParameters()
	w.supplied()
	w.pass()
	w.requireSize()
	w.request()
	for range 3 {
		w.pass()
	}
	assert.Equal(t, theirs, w.bindingHere().Status.ExternalID)
}

// withSecretParameters has parameters that admission does not see.
func withSecretParameters(b *v1beta1.ServiceBinding) {
	b.Spec.ParametersFrom = []v1beta1.ParametersFromSource{{SecretKeyRef: &v1beta1.SecretKeyReference{Name: "given", Key: "p"}}}
}

// giveParameters writes the Secret of withSecretParameters.
func (w *adoptWorld) giveParameters() {
	w.Helper()
	given := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: "given"}, Data: map[string][]byte{"p": []byte(`{"role":"reader"}`)}}
	require.NoError(w, w.cache.Create(w.Context(), given))
}

// requireSize has the schema of the plan ask for a parameter.
func (w *adoptWorld) requireSize() {
	w.Helper()
	var plans v1beta1.ClusterServicePlanList
	require.NoError(w, w.cache.List(w.Context(), &plans))
	for i := range plans.Items {
		plans.Items[i].Spec.ServiceBindingCreateParameterSchema = &runtime.RawExtension{Raw: []byte(`{"type":"object","required":["size"]}`)}
		require.NoError(w, w.cache.Update(w.Context(), &plans.Items[i]))
	}
}

// The binding's own Secret with the credentials of another ID, such as those before a change of it,
// holds none of what is adopted.
func TestOwnSecretOfAnotherIDIsNotAdopted(t *testing.T) {
	t.Parallel()
	w := newAdoptWorld(t, false, false)
	secret := w.supplied(func(s *corev1.Secret) {
		s.Annotations[v1beta1.AnnotationCredentialsOf] = "other"
		require.NoError(t, controllerutil.SetControllerReference(w.bindingHere(), s, w.cache.Scheme()))
	})
	w.pass()
	w.ready(v1beta1.ConditionFalse, lifecycle.ReasonCredentialsMissing)
	assert.Equal(t, secret, w.secretHere("b"))
}

// ownedBy are the owners of a Secret of another binding.
func ownedBy(controls bool) []metav1.OwnerReference {
	return []metav1.OwnerReference{{APIVersion: v1beta1.GroupVersion.String(), Kind: "ServiceBinding", Name: "other", UID: "other-uid", Controller: &controls}}
}

// What is fetched replaces what a user supplied, in the same Secret.
func TestOfferedSecretGetsWhatIsFetched(t *testing.T) {
	t.Parallel()
	w := newAdoptWorld(t, true, false)
	supplied := w.supplied()
	w.pass()
	w.ready(v1beta1.ConditionTrue, lifecycle.ReasonAdopted)
	secret := w.secretHere("b")
	assert.NotContains(t, secret.Data, "carried")
	assert.Contains(t, secret.Data, "password")
	assert.Equal(t, supplied.UID, secret.UID)
	assert.True(t, metav1.IsControlledBy(secret, w.bindingHere()))
}

// New credentials that a user asks for are the binding's own; those that were adopted stay at
// the broker, and that is said.
func TestAdoptedCredentialsRotate(t *testing.T) {
	t.Parallel()
	w := newAdoptWorld(t, false, false, func(b *v1beta1.ServiceBinding) {
		b.Spec.Rotation = &v1beta1.Rotation{Overlap: &metav1.Duration{}}
	})
	w.supplied()
	w.pass()
	<-w.recorder.Events
	w.request()
	for range 4 {
		w.pass()
	}
	w.before++ // that of the rotation
	b := w.bindingHere()
	require.NotEqual(t, theirs, b.Status.ExternalID)
	assert.Nil(t, b.Status.Rotation)
	assert.Equal(t, v1beta1.UnbindRequired, b.Status.UnbindStatus, "what was made is removed with it")
	assert.Len(t, w.broker.Bindings(), 2)
	assert.Empty(t, w.broker.Calls(osbtest.Of(osbtest.Unbind)))
	close(w.recorder.Events)
	var told []string
	for event := range w.recorder.Events {
		told = append(told, event)
	}
	assert.Contains(t, strings.Join(told, "\n"), "Warning Abandoned")
}
