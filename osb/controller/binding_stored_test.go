package controller

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/osb/osbtest"
)

// crashedBehindSecret takes a binding back to the status that it had when the call was made, as a
// crash between the Secret and the outcome leaves it.
func (w *bindingWorld) crashedBehindSecret() {
	w.Helper()
	b, _ := w.pass()
	require.NotNil(w, b.Status.Binding)
	b.Status = v1beta1.ServiceBindingStatus{
		CurrentOperation: v1beta1.BindingBind, UnbindStatus: v1beta1.UnbindRequired, OperationStartTime: new(metav1.Now()),
		ExternalID: b.Status.ExternalID, InProgressProperties: b.Status.ExternalProperties,
	}
	require.NoError(w, w.cache.Status().Update(w.Context(), b))
	for len(w.recorder.Events) > 0 {
		<-w.recorder.Events
	}
}

// isBound expects a binding that is as if there had been no crash.
func (w *bindingWorld) isBound(b *v1beta1.ServiceBinding) {
	w.Helper()
	require.NotNil(w, b.Status.Binding)
	assert.Equal(w, "b", b.Status.Binding.Name)
	assert.Equal(w, "binding-id", b.Status.ExternalID)
	assert.NotNil(w, b.Status.ExternalProperties)
	assert.Nil(w, b.Status.InProgressProperties)
	assert.NotNil(w, b.Status.Credentials)
	ready, _ := v1beta1.FindCondition(b.Status.Conditions, v1beta1.ConditionReady)
	assert.Equal(w, []string{"True", "InjectedBindResult"}, []string{string(ready.Status), ready.Reason})
	require.NotEmpty(w, w.recorder.Events)
	assert.Contains(w, <-w.recorder.Events, "Normal InjectedBindResult")
	assert.Len(w, w.broker.Bindings(), 1)
	w.broker.AssertDuties(w)
}

// Credentials that were stored, and whose status was not, are found in the Secret: the broker is
// not asked again, for it may not give them again.
func TestBindingIsFoundInItsSecret(t *testing.T) {
	t.Parallel()
	w := newBindingWorld(t, func(b *v1beta1.ServiceBinding) {
		b.Spec.SecretTransforms = []v1beta1.SecretTransform{{AddKey: &v1beta1.AddKeyTransform{Key: "public", StringValue: new("x")}}, publishKey("public")}
	})
	w.crashedBehindSecret()
	secret := w.secretHere("b")
	b, _ := w.pass()
	w.isBound(b)
	assert.Len(t, w.broker.Calls(osbtest.Of(osbtest.Bind)), 1)
	assert.Equal(t, secret.ResourceVersion, w.secretHere("b").ResourceVersion)
	assert.Equal(t, []string{"b"}, b.Status.ConfigMaps)
}

// A Secret with the credentials of another bind of the same object says nothing of this one.
func TestBindingIsNotFoundInAnotherSecret(t *testing.T) {
	t.Parallel()
	w := newBindingWorld(t)
	w.crashedBehindSecret()
	secret := w.secretHere("b")
	secret.Annotations[v1beta1.AnnotationCredentialsOf] = "another"
	require.NoError(t, w.cache.Update(t.Context(), secret))
	b, _ := w.pass()
	w.isBound(b)
	assert.Len(t, w.broker.Calls(osbtest.Of(osbtest.Bind)), 2)
}

// What status alone tells of credentials is asked for again, with them. Where the broker does not
// give it, the Secret is believed all the same: the credentials are not undone.
func TestBindingIsAskedForAgainForItsStatus(t *testing.T) {
	t.Parallel()
	endpoints := func(osbtest.Binding) []map[string]any {
		return []map[string]any{{"host": "10.0.0.1", "ports": []string{"5432"}}}
	}
	typo := func(b *v1beta1.ServiceBinding) {
		b.Spec.SecretTransforms = []v1beta1.SecretTransform{{RemoveKey: &v1beta1.RemoveKeyTransform{Key: "typo"}}}
	}
	for name, tc := range map[string]struct {
		reason string
		edit   func(*v1beta1.ServiceBinding)
		answer *osbtest.Fault
		told   bool
	}{
		"KeysNotFound": {reason: "which keys there were not", edit: typo, told: true},
		"Endpoints":    {reason: "where the service is", edit: func(*v1beta1.ServiceBinding) {}, told: true},
		"Rejected":     {reason: "the broker does not take a repeated bind", edit: typo, answer: new(osbtest.Status(400, `{}`))},
		"Conflict":     {reason: "nor says so", edit: typo, answer: new(osbtest.Status(409, `{}`))},
		"NotAgain":     {reason: "the broker gives credentials once", edit: typo, answer: new(osbtest.Status(200, `{}`))},
		"DrainOnly":    {reason: "and the rest each time", edit: typo, answer: new(osbtest.Status(200, `{"syslog_drain_url":"syslog://logs.example.com"}`))},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newBindingWorld(t, tc.edit)
			if name == "Endpoints" {
				w.broker.SetEndpoints(endpoints)
			}
			w.crashedBehindSecret()
			stored := w.secretHere("b").Data
			if tc.answer != nil {
				w.broker.Next(osbtest.Bind, *tc.answer)
			}
			b, _ := w.pass()
			w.isBound(b)
			if tc.answer != nil {
				assert.Equal(t, stored, w.secretHere("b").Data, "valid credentials are not written over")
			}
			assert.Len(t, w.broker.Calls(osbtest.Of(osbtest.Bind)), 2, tc.reason)
			_, missing := v1beta1.FindCondition(b.Status.Conditions, v1beta1.ConditionTransformed)
			assert.Equal(t, tc.told, missing || len(b.Status.Endpoints) == 1, tc.reason)
			b, _ = w.pass()
			assert.NotNil(t, b.Status.Binding, "that is all")
			assert.Len(t, w.broker.Calls(), 2)
		})
	}
}
