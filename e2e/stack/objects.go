package stack

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
)

// Objects are those of a stack, in the hands of one test. Its methods have the rights of
// the stack's Client, and fail the test.
type Objects struct {
	*testing.T
	*Stack
}

// Create makes objects, one after the other.
func (o Objects) Create(objects ...client.Object) {
	o.Helper()
	for _, object := range objects {
		require.NoError(o, o.Client().Create(o.Context(), object), "create %T %s", object, object.GetName())
	}
}

// Get reads an object anew from the API server.
func (o Objects) Get(object client.Object) {
	o.Helper()
	require.NoError(o, o.Client().Get(o.Context(), client.ObjectKeyFromObject(object), object))
}

// Change edits an object as it is stored, again as often as somebody else was first.
func (o Objects) Change(object client.Object, edit func()) {
	o.Helper()
	o.Eventually(func() (bool, error) {
		if err := o.Client().Get(o.Context(), client.ObjectKeyFromObject(object), object); err != nil {
			return true, err
		}
		edit()
		err := o.Client().Update(o.Context(), object)
		return !apierrors.IsConflict(err), err
	})
}

// Delete asks for an object's deletion, and does not wait for it.
func (o Objects) Delete(object client.Object, options ...client.DeleteOption) {
	o.Helper()
	require.NoError(o, o.Client().Delete(o.Context(), object, options...))
}

// Gone waits until objects are there no more.
func (o Objects) Gone(objects ...client.Object) {
	o.Helper()
	for _, object := range objects {
		o.Eventually(func() (bool, error) {
			err := o.Client().Get(o.Context(), client.ObjectKeyFromObject(object), object)
			if err != nil {
				return true, client.IgnoreNotFound(err)
			}
			return false, fmt.Errorf("%T %s is still there: %s", object, object.GetName(), StatusOf(object))
		})
	}
}

// Absent says that an object is not there now.
func (o Objects) Absent(object client.Object) bool {
	o.Helper()
	err := o.Client().Get(o.Context(), client.ObjectKeyFromObject(object), object)
	require.NoError(o, client.IgnoreNotFound(err))
	return apierrors.IsNotFound(err)
}

// Eventually polls until the condition is true; an error says why not yet.
func (o Objects) Eventually(is func() (bool, error)) {
	o.Helper()
	require.NoError(o, Eventually(o.Context(), is))
}

// Ready waits until objects are Ready as their specs are now.
func (o Objects) Ready(objects ...client.Object) {
	o.Helper()
	for _, object := range objects {
		o.HasCondition(object, api.ConditionReady, api.ConditionTrue, "")
	}
}

// HasCondition waits until an object has a condition, observed at its generation; an
// empty reason is any.
func (o Objects) HasCondition(object client.Object, typ string, status api.ConditionStatus, reason string) api.Condition {
	o.Helper()
	return o.until(object, api.Condition{Type: typ, Status: status, Reason: reason}, func(found api.Condition) bool {
		return found.ObservedGeneration == object.GetGeneration()
	})
}

// Says waits until an object has a condition, as HasCondition does, but observed at
// whatever generation.
func (o Objects) Says(object client.Object, typ string, status api.ConditionStatus, reason string) api.Condition {
	o.Helper()
	return o.until(object, api.Condition{Type: typ, Status: status, Reason: reason}, func(api.Condition) bool { return true })
}

// until waits for a condition that is as wanted, and of which is holds too.
func (o Objects) until(object client.Object, want api.Condition, is func(api.Condition) bool) api.Condition {
	o.Helper()
	var found api.Condition
	o.Eventually(func() (bool, error) {
		if err := o.Client().Get(o.Context(), client.ObjectKeyFromObject(object), object); err != nil {
			return true, err
		}
		found, _ = api.FindCondition(ConditionsOf(object), want.Type)
		if found.Status == want.Status && (want.Reason == "" || found.Reason == want.Reason) && is(found) {
			return true, nil
		}
		return false, fmt.Errorf("%T %s is not %s=%s (%s): %s", object, object.GetName(), want.Type, want.Status, want.Reason, StatusOf(object))
	})
	return found
}

// ConditionsOf are the conditions of an instance, a binding or a broker; of another
// object there are none.
func ConditionsOf(object client.Object) []api.Condition {
	switch o := object.(type) {
	case *api.ServiceInstance:
		return o.Status.Conditions
	case *api.ServiceBinding:
		return o.Status.Conditions
	case *api.ClusterServiceBroker:
		return o.Status.Conditions
	case *api.ServiceBroker:
		return o.Status.Conditions
	}
	return nil
}

// StatusOf is what an object's conditions say, for a message.
func StatusOf(object client.Object) string {
	text, err := json.Marshal(ConditionsOf(object))
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// RawJSON is parameters; nil for an empty text.
func RawJSON(text string) *runtime.RawExtension {
	if text == "" {
		return nil
	}
	return &runtime.RawExtension{Raw: json.RawMessage(text)}
}
