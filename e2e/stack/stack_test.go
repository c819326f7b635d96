package stack

import (
	"fmt"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/e2e/stack/wait"
)

// named asks for a class and plan that are not there, which is always admitted.
func named(name string) *api.ServiceInstance {
	instance := &api.ServiceInstance{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}}
	instance.Spec.ClusterServiceClassExternalName = "class"
	instance.Spec.ClusterServicePlanExternalName = "plan"
	return instance
}

// TestWebhooksComeAndGo runs the real webhook twice behind one address.
func TestWebhooksComeAndGo(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	s, err := Start(ctx, Options{Dir: t.TempDir(), Bin: "../../bin", Webhooks: 2})
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, s.Stop()) })

	var wg sync.WaitGroup
	for i := range 20 {
		wg.Go(func() { assert.NoError(t, s.Client().Create(ctx, named(fmt.Sprintf("at-once-%d", i)))) })
	}
	wg.Wait()
	for i, connections := range s.Balancer().Served() {
		assert.Positive(t, connections, "replica %d serves", i)
	}

	require.NoError(t, s.StopWebhook(ctx, 0, syscall.SIGKILL))
	require.NoError(t, s.StopWebhook(ctx, 0, syscall.SIGKILL), "twice is no error")
	require.NoError(t, wait.Eventually(ctx, func() (bool, error) {
		err := s.Client().Create(ctx, named("one-is-left"))
		return err == nil || apierrors.IsAlreadyExists(err), err
	}))

	require.NoError(t, s.StopWebhook(ctx, 1, syscall.SIGTERM))
	err = s.Client().Create(ctx, named("none-is-left"))
	require.True(t, apierrors.IsInternalError(err), "no webhook decides, so nothing is admitted: %v", err)

	require.NoError(t, s.StartWebhook(ctx, 0))
	require.ErrorContains(t, s.StartWebhook(ctx, 0), "it runs")
	require.NoError(t, s.Client().Create(ctx, named("back-again")))
	require.ErrorContains(t, s.StartWebhook(ctx, 2), "there are 2, counted from 0")
	require.FileExists(t, s.WebhookLog(1))
}

// TestAPolicyIsNoHook: where the policies refuse what no hook made whole, the
// stack does not take that for a hook that was called.
func TestAPolicyIsNoHook(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	s, err := Start(ctx, Options{Dir: t.TempDir(), Bin: "../../bin", Webhooks: 1})
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, s.Stop()) })
	require.NoError(t, s.UninstallHooks(ctx))
	require.NoError(t, InstallVAP(ctx, s.Client()))
	called, err := s.hooked(ctx)
	require.NoError(t, err)
	require.False(t, called)
	require.NoError(t, s.InstallHooks(ctx))
	decided := &api.ServiceInstance{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "typed"}}
	decided.Spec.ServiceType = "absent"
	require.ErrorContains(t, s.Client().Create(ctx, decided), "admission webhook", "the hook decides, and the policy only later")
}

func TestKubeconfigForAUser(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	s, err := Start(ctx, Options{Dir: t.TempDir(), Bin: "../../bin"})
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, s.Stop()) })
	for _, user := range []string{"alice", webhookUser} {
		kubeconfig, err := s.KubeconfigFor(ctx, user)
		require.NoError(t, err)
		stdout, stderr, err := s.Kubectl(ctx, "", "--kubeconfig", kubeconfig, "auth", "whoami", "-o", "jsonpath={.status.userInfo.username}")
		require.NoError(t, err, stderr)
		assert.Equal(t, user, stdout)
	}
	_, err = s.KubeconfigFor(ctx, "system:serviceaccount:default")
	require.ErrorContains(t, err, "system:serviceaccount:NAMESPACE:NAME")
	_, err = s.KubeconfigFor(ctx, "system:serviceaccount:default:none")
	require.ErrorContains(t, err, `cannot make a token for ServiceAccount "default/none"`)

	alice, err := client.New(s.RESTConfigFor("alice"), client.Options{Scheme: s.Client().Scheme()})
	require.NoError(t, err)
	require.True(t, apierrors.IsForbidden(alice.Create(ctx, named("hers"))), "a user has the rights that RBAC gives")
}
