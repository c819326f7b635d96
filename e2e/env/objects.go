package env

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/e2e/stack/wait"
)

// Create creates objects, one after the other. A type that the keeper made already is
// patched; see Put.
func (e *Env) Create(objects ...client.Object) {
	e.Helper()
	for _, object := range objects {
		require.NoError(e, e.Put(object), "cannot create %T %s", object, object.GetName())
	}
}

// patiently makes a write, and again while the machine is too busy to answer.
func (e *Env) patiently(write func() error) error {
	return wait.Eventually(e.Context(), func() (bool, error) {
		err := write()
		return !wait.Overloaded(err), err
	})
}

// Get reads an object from the API server.
func (e *Env) Get(object client.Object) {
	e.Helper()
	require.NoError(e, e.Client().Get(e.Context(), client.ObjectKeyFromObject(object), object))
}

// Change edits an object as it is stored, and again after a conflict.
func (e *Env) Change(object client.Object, edit func()) {
	e.Helper()
	e.Eventually(func() (bool, error) {
		if err := e.Client().Get(e.Context(), client.ObjectKeyFromObject(object), object); err != nil {
			return true, err
		}
		edit()
		err := e.Client().Update(e.Context(), object)
		return err == nil || !apierrors.IsConflict(err) && !wait.Overloaded(err), err
	})
}

// Delete asks for an object's deletion, and does not wait for it.
func (e *Env) Delete(object client.Object, options ...client.DeleteOption) {
	e.Helper()
	require.NoError(e, e.Client().Delete(e.Context(), object, options...))
}

// Gone waits until objects do not exist any more.
func (e *Env) Gone(objects ...client.Object) {
	e.Helper()
	for _, object := range objects {
		e.Eventually(func() (bool, error) {
			err := e.Client().Get(e.Context(), client.ObjectKeyFromObject(object), object)
			if err != nil {
				return true, client.IgnoreNotFound(err)
			}
			return false, fmt.Errorf("%T %s is still there: %s", object, object.GetName(), StatusOf(object))
		})
	}
}

// TakeAway deletes objects, also those that the controller keeps for their users, as
// who may write their finalizers can; see Gone.
func (e *Env) TakeAway(objects ...client.Object) {
	e.Helper()
	for _, object := range objects {
		e.Delete(object)
		err := e.Client().Patch(e.Context(), object, client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`)))
		require.NoError(e, client.IgnoreNotFound(err))
	}
}

// Absent says whether an object does not exist now.
func (e *Env) Absent(object client.Object) bool {
	e.Helper()
	err := e.Client().Get(e.Context(), client.ObjectKeyFromObject(object), object)
	require.NoError(e, client.IgnoreNotFound(err))
	return apierrors.IsNotFound(err)
}

// Eventually waits until is returns true; see wait.Eventually. An error beside false
// says what is observed, and extends the wait while it changes; beside true it fails the
// test.
func (e *Env) Eventually(is func() (bool, error)) {
	e.Helper()
	require.NoError(e, wait.Eventually(e.Context(), is))
}

// Ready waits until objects are Ready as their specs are now.
func (e *Env) Ready(objects ...client.Object) {
	e.Helper()
	for _, object := range objects {
		e.HasCondition(object, api.ConditionReady, api.ConditionTrue, "")
	}
}

// HasCondition waits until an object has a condition, observed at its generation; an
// empty reason is any.
func (e *Env) HasCondition(object client.Object, typ string, status api.ConditionStatus, reason string) api.Condition {
	e.Helper()
	var found api.Condition
	e.Eventually(func() (bool, error) {
		if err := e.Client().Get(e.Context(), client.ObjectKeyFromObject(object), object); err != nil {
			return true, err
		}
		found = ConditionOf(object, typ)
		if found.Status == status && (reason == "" || found.Reason == reason) && found.ObservedGeneration == object.GetGeneration() {
			return true, nil
		}
		return false, fmt.Errorf("%T %s at generation %d is not %s=%s (%s)%s: %s",
			object, object.GetName(), object.GetGeneration(), typ, status, reason, underWay(object), StatusOf(object))
	})
	return found
}

// Becomes waits until an object is as wanted, as it was read last.
func (e *Env) Becomes(object client.Object, is func() bool) {
	e.Helper()
	e.Eventually(func() (bool, error) {
		if err := e.Client().Get(e.Context(), client.ObjectKeyFromObject(object), object); err != nil {
			return true, err
		}
		if is() {
			return true, nil
		}
		return false, fmt.Errorf("%T %s is not yet as wanted at version %s: %s", object, object.GetName(), object.GetResourceVersion(), StatusOf(object))
	})
}

// ConditionOf is the condition of a type that an object has, as it was read; the zero
// value if it has none.
func ConditionOf(object client.Object, typ string) api.Condition {
	found, _ := api.FindCondition(ConditionsOf(object), typ)
	return found
}

// ConditionsOf are the conditions of an instance, a binding, a broker, a class or a plan; of
// another object there are none.
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
	case *api.ClusterServiceClass:
		return o.Status.Conditions
	case *api.ServiceClass:
		return o.Status.Conditions
	case *api.ClusterServicePlan:
		return o.Status.Conditions
	case *api.ServicePlan:
		return o.Status.Conditions
	}
	return nil
}

// underWay says how long a call of an object may still be under way, in steps of some
// seconds: what waits for it is no sign that nothing goes on.
func underWay(object client.Object) string {
	const step = 5 * time.Second
	var deadline *metav1.MicroTime
	switch o := object.(type) {
	case *api.ServiceInstance:
		deadline = o.Status.CallDeadline
	case *api.ServiceBinding:
		deadline = o.Status.CallDeadline
	}
	if deadline == nil || time.Until(deadline.Time) <= 0 {
		return ""
	}
	return fmt.Sprintf(", its call may be under way for %s more", time.Until(deadline.Time).Truncate(step)+step)
}

// StatusOf is the conditions of an object, for a message.
func StatusOf(object client.Object) string {
	text, err := json.Marshal(ConditionsOf(object))
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// Patch sends a merge patch.
func (e *Env) Patch(object client.Object, patch string) {
	e.Helper()
	require.NoError(e, e.TryPatch(object, patch))
}

// TryPatch sends a merge patch that may be refused.
func (e *Env) TryPatch(object client.Object, patch string) error {
	return e.patiently(func() error { return e.Client().Patch(e.Context(), object, MergePatch(patch)) })
}

// PatchInstance sends a merge patch to the instance of that name.
func (e *Env) PatchInstance(name, patch string) error {
	e.Helper()
	return e.TryPatch(e.Instance(name), patch)
}

// RawPatch is a patch of a kind, from its text.
func RawPatch(kind types.PatchType, patch string) client.Patch {
	return client.RawPatch(kind, []byte(patch))
}

// MergePatch is a merge patch, from its text.
func MergePatch(patch string) client.Patch { return RawPatch(types.MergePatchType, patch) }
