package policies_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/e2e/env"
	"github.com/defaultplan/defaultplan/e2e/stack"
	"github.com/defaultplan/defaultplan/e2e/stack/suite"
)

// TestNothingIsDecidedBeforeThePoliciesAreRead: a webhook that has just started and has
// not read the policies answers HTTP 500, whether it is ready or not: it does not take
// what it has not read for what is not there.
func TestNothingIsDecidedBeforeThePoliciesAreRead(t *testing.T) {
	t.Parallel()
	s := suite.New(t, stack.Options{Webhooks: 1, Releaser: true})
	e := env.On(t, s)
	addPremium(e)
	deny := denial(e, api.PlanSubject{ClassName: e.Name("c"), PlanName: e.Name("premium")})
	e.Create(deny)

	kubeconfig, err := s.KubeconfigFor(t.Context(), env.KeeperUser)
	require.NoError(t, err)
	proxy, err := s.StartAPIProxy(t.Context(), "starting", kubeconfig)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, proxy.Close()) })
	require.NoError(t, s.StopWebhook(t.Context(), 0, syscall.SIGTERM))
	require.NoError(t, s.SetWebhookArgs(0, "--kubeconfig="+proxy.Kubeconfig()))
	read := sync.OnceFunc(proxy.HoldReads("provisioningpolicies"))
	t.Cleanup(read)
	started := make(chan error, 1)
	go func() { started <- s.StartWebhook(context.WithoutCancel(t.Context()), 0) }()

	e.Eventually(func() (bool, error) {
		err := e.Client().Create(t.Context(), e.Instance("early", env.OfType(e.Name("db"))), client.DryRunAll)
		if err == nil || apierrors.IsForbidden(err) || apierrors.IsInvalid(err) {
			return true, fmt.Errorf("it is decided without its policies: %v", err) //nolint:errorlint // nil where it was admitted
		}
		if apierrors.IsInternalError(err) && strings.Contains(err.Error(), "the policies have not been read yet") {
			return true, nil
		}
		return false, err // the port is closed yet
	})
	read()
	require.NoError(t, <-started)
	err = e.Client().Create(t.Context(), e.Instance("late", env.OfType(e.Name("db"))), client.DryRunAll)
	assert.True(t, apierrors.IsForbidden(err), "%v", err)
	assert.ErrorContains(t, err, deny.Name)
}
