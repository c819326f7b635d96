package env

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/e2e/stack"
	"github.com/defaultplan/defaultplan/e2e/stack/wait"
)

// Put creates an object. A type is patched if the keeper was faster: it makes one for every
// type in use.
func (o *Objects) Put(object client.Object) error {
	err := o.Client().Create(o.Context(), object)
	if !apierrors.IsAlreadyExists(err) {
		return err
	}
	switch object.(type) {
	case *api.ClusterServiceType, *api.ServiceType:
		unrecorded := TypeWithDefault(object.GetNamespace(), object.GetName(), "")
		return o.Client().Patch(o.Context(), object, client.MergeFrom(unrecorded))
	}
	return err
}

// AddNamespace makes a further namespace.
func (o *Objects) AddNamespace() string {
	o.Helper()
	// The name always has eleven characters, on which the tables of golden files depend.
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "tests-"}}
	o.Create(namespace)
	return namespace.Name
}

// JSON is the JSON of an optional value, "" for none.
func (o *Objects) JSON(value any) string {
	o.Helper()
	text, err := json.Marshal(value)
	require.NoError(o, err)
	if string(text) == "null" {
		return ""
	}
	return string(text)
}

// Objects reads and writes the API server by a client, and fails its test.
type Objects struct {
	*testing.T
	// Warnings are those of the API server to requests of Client.
	Warnings *Warnings

	config *rest.Config
	// once makes a write once; client makes it again while the machine is too busy.
	once, client client.WithWatch
}

// connect makes a client of a configuration, which it changes.
func connect(t *testing.T, s *stack.Stack, config *rest.Config) *Objects {
	t.Helper()
	warnings := &Warnings{}
	config.WarningHandlerWithContext = warnings
	shared := s.Client()
	connected, err := client.NewWithWatch(config, client.Options{Scheme: shared.Scheme(), Mapper: shared.RESTMapper()})
	require.NoError(t, err)
	return &Objects{T: t, Warnings: warnings, config: config, once: connected, client: wait.Client(connected)}
}

// Client is the administrator's, or that of the user of As. It reads from the API
// server, not from a cache, and makes a write again while the machine is too busy to answer.
func (o *Objects) Client() client.WithWatch { return o.client }

// Once is Client, without making a write again.
func (o *Objects) Once() client.WithWatch { return o.once }

// Create creates objects, one after the other. A type that the keeper made already is
// patched; see Put.
func (o *Objects) Create(objects ...client.Object) {
	o.Helper()
	for _, object := range objects {
		require.NoError(o, o.Put(object), "cannot create %T %s", object, object.GetName())
	}
}

// Get reads an object from the API server.
func (o *Objects) Get(object client.Object) {
	o.Helper()
	require.NoError(o, o.Client().Get(o.Context(), client.ObjectKeyFromObject(object), object))
}

// Change edits an object as it is stored, and again after a conflict.
func (o *Objects) Change(object client.Object, edit func()) {
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
func (o *Objects) Delete(object client.Object, options ...client.DeleteOption) {
	o.Helper()
	require.NoError(o, o.Client().Delete(o.Context(), object, options...))
}

// Gone waits until objects do not exist any more.
func (o *Objects) Gone(objects ...client.Object) {
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

// TakeAway deletes objects, also those that the controller keeps for their users, as
// who may write their finalizers can; see Gone.
func (o *Objects) TakeAway(objects ...client.Object) {
	o.Helper()
	for _, object := range objects {
		o.Delete(object)
		err := o.Client().Patch(o.Context(), object, client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`)))
		require.NoError(o, client.IgnoreNotFound(err))
	}
}

// Absent says whether an object does not exist now.
func (o *Objects) Absent(object client.Object) bool {
	o.Helper()
	err := o.Client().Get(o.Context(), client.ObjectKeyFromObject(object), object)
	require.NoError(o, client.IgnoreNotFound(err))
	return apierrors.IsNotFound(err)
}

// Eventually waits until is returns true; see wait.Eventually. An error beside false
// says what is observed, and extends the wait while it changes; beside true it fails the
// test.
func (o *Objects) Eventually(is func() (bool, error)) {
	o.Helper()
	require.NoError(o, wait.Eventually(o.Context(), is))
}

// Ready waits until objects are Ready as their specs are now.
func (o *Objects) Ready(objects ...client.Object) {
	o.Helper()
	for _, object := range objects {
		o.HasCondition(object, api.ConditionReady, api.ConditionTrue, "")
	}
}

// HasCondition waits until an object has a condition, observed at its generation; an
// empty reason is any.
func (o *Objects) HasCondition(object client.Object, typ string, status api.ConditionStatus, reason string) api.Condition {
	o.Helper()
	var found api.Condition
	o.Eventually(func() (bool, error) {
		if err := o.Client().Get(o.Context(), client.ObjectKeyFromObject(object), object); err != nil {
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
func (o *Objects) Becomes(object client.Object, is func() bool) {
	o.Helper()
	o.Eventually(func() (bool, error) {
		if err := o.Client().Get(o.Context(), client.ObjectKeyFromObject(object), object); err != nil {
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
func (o *Objects) Patch(object client.Object, patch string) {
	o.Helper()
	require.NoError(o, o.TryPatch(object, patch))
}

// TryPatch sends a merge patch that may be refused.
func (o *Objects) TryPatch(object client.Object, patch string) error {
	return o.Client().Patch(o.Context(), object, MergePatch(patch))
}

// RawPatch is a patch of a kind, from its text.
func RawPatch(kind types.PatchType, patch string) client.Patch {
	return client.RawPatch(kind, []byte(patch))
}

// MergePatch is a merge patch, from its text.
func MergePatch(patch string) client.Patch { return RawPatch(types.MergePatchType, patch) }
