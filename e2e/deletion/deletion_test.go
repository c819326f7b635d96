package deletion_test

import (
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/e2e/env"
	"github.com/defaultplan/defaultplan/e2e/offering"
	"github.com/defaultplan/defaultplan/e2e/stack"
	"github.com/defaultplan/defaultplan/e2e/stack/suite"
	"github.com/defaultplan/defaultplan/e2e/stack/wait"
)

// TestDeletionWithTheWebhookUp tells that deleting needs nothing of the webhook:
// it is not even asked.
func TestDeletionWithTheWebhookUp(t *testing.T) {
	t.Parallel()
	o := offering.New(env.New(t), offering.Cluster)
	o.CreateInstance("db", env.OfType(o.Type))
	o.CreateInstance("waiting", env.OfPlan("absent", "absent"))
	o.CreateInstance("beside", env.OfType(o.Type))
	deletes(o.Env, "db")
	deletes(o.Env, "waiting")
	deletesNamespace(o.Env)
	for _, line := range o.Decisions(0) {
		if line.User == env.KeeperUser {
			continue
		}
		assert.Equal(t, "CREATE", line.Operation, "the webhook is never called for the finalizer: %+v", line)
	}
}

// TestDeletionWithTheWebhookKilled tells that all that is no decision goes on
// without it, that a decision is refused, and that all is well when it is back.
// It is not parallel, as it kills the shared webhook: parallel tests start when it is done.
func TestDeletionWithTheWebhookKilled(t *testing.T) {
	e := env.New(t)
	e.AddPlans(env.Class{Name: "class", ServiceType: "type"}, env.Plan{Name: "plan", Default: true})
	for _, name := range []string{"db", "beside", "stays"} {
		require.Equal(t, "plan", env.PlanOf(e.CreateInstance(name, env.OfType("type"))))
	}
	e.CreateInstance("waiting", env.OfPlan("absent", "absent"))
	require.NoError(t, e.StopWebhook(t.Context(), 0, syscall.SIGKILL))

	refusedFor(e, "a create is refused", e.Client().Create(t.Context(), e.Instance("new", env.OfType("type"))))
	refusedFor(e, "a change of spec is refused", e.PatchInstance("stays", `{"spec":{"parameters":{"a":1}}}`))
	refusedFor(e, "what is undecided cannot be decided", e.PatchInstance("waiting", `{"metadata":{"labels":{"a":"b"}}}`))
	require.NoError(t, e.PatchInstance("stays", `{"metadata":{"labels":{"a":"b"}}}`), "a label is no decision")
	require.NoError(t, e.Client().Status().Patch(t.Context(), e.Instance("waiting"),
		client.RawPatch(types.MergePatchType, []byte(`{"status":{"lastConditionState":"a"}}`))), "nor is status")
	deletes(e, "db")
	deletes(e, "waiting")

	old := e
	e = e.InNamespace(e.AddNamespace())
	deletesNamespace(old)

	require.NoError(t, e.StartWebhook(t.Context(), 0))
	assert.Equal(t, "plan", env.PlanOf(e.CreateInstance("new", env.OfType("type"))), "it works again when it is back")
	require.NoError(t, e.PatchInstance("new", `{"spec":{"parameters":{"a":1}}}`))
	deletes(e, "new")
}

// TestDeletionWithTheWebhookNeverInstalled tells of a cluster with the
// definitions only, and of objects that the retired catalog left there.
func TestDeletionWithTheWebhookNeverInstalled(t *testing.T) {
	t.Parallel()
	e := env.On(t, suite.New(t, stack.Options{Releaser: true}))
	for _, name := range []string{"db", "beside"} {
		e.CreateInstance(name, env.OfPlan("class", "plan"), env.WithFinalizer(api.FinalizerServiceCatalog))
	}
	deletes(e, "db")
	deletesNamespace(e)
}

// refusedFor asserts that the API server refused because it cannot ask the
// webhook.
func refusedFor(e *env.Env, reason string, err error) {
	e.Helper()
	require.Error(e, err, reason)
	assert.True(e, apierrors.IsInternalError(err), "%s: %v", reason, err)
	assert.Contains(e, err.Error(), `failed calling webhook "mutate.serviceinstances.servicecatalog.k8s.io"`, reason)
}

// deletes deletes the instance and returns when it is gone.
func deletes(e *env.Env, name string) {
	e.Helper()
	instance := e.Instance(name)
	require.NoError(e, e.Client().Delete(e.Context(), instance))
	untilGone(e, instance)
}

// deletesNamespace deletes the namespace, with what is in it, and
// returns when all is gone.
func deletesNamespace(e *env.Env) {
	e.Helper()
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: e.Namespace}}
	require.NoError(e, e.Client().Delete(e.Context(), namespace))
	untilGone(e, namespace)
}

// untilGone returns when the object is. A namespace takes its time: its controller
// looks again only after some seconds.
func untilGone(e *env.Env, object client.Object) {
	e.Helper()
	require.NoError(e, wait.EventuallyWithin(e.Context(), 2*time.Minute, func() (bool, error) {
		err := e.Client().Get(e.Context(), client.ObjectKeyFromObject(object), object)
		if apierrors.IsNotFound(err) {
			return true, nil
		}
		return false, err
	}))
}
