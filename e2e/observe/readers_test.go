package observe_test

import (
	"context"
	"net/http"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/defaultplan/defaultplan/e2e/env"
	"github.com/defaultplan/defaultplan/e2e/stack"
)

// TestWhoReadsMetrics: every daemon, with the rights that are shipped, show their metrics
// to ServiceAccounts with the role defaultplan-metrics-reader and to no others; and to
// everyone, by HTTP, only where they are told so.
func TestWhoReadsMetrics(t *testing.T) {
	t.Parallel()
	e := env.New(t)
	controller, open := controllerOf(e, "asks"), controllerOf(e, "open", "--metrics-secure=false")
	stranger, reader := tokenOf(e, "stranger"), tokenOf(e, "reader")
	e.GrantClusterRole("system:serviceaccount:"+e.Namespace+":reader", "defaultplan-metrics-reader")
	const forged = "forged"
	for daemon, served := range map[string]struct{ url, metric string }{
		"Webhook":    {url: e.WebhookMetrics(0), metric: "go_goroutines "},
		"Keeper":     {url: e.Keeper().Metrics(), metric: "defaultplan_keeper_leader "},
		"Controller": {url: controller.Metrics(), metric: "defaultplan_controller_leader "},
	} {
		for who, tc := range map[string]struct {
			reason, token string
			want          int
		}{
			"NoToken":  {reason: "there is no anonymous reader", want: http.StatusUnauthorized},
			"Forged":   {reason: "controller-runtime tells no more of a token that is not valid", token: forged, want: http.StatusInternalServerError},
			"Stranger": {reason: "a token is no right", token: stranger, want: http.StatusForbidden},
			"Reader":   {reason: "the role is the right", token: reader, want: http.StatusOK},
		} {
			t.Run(daemon+"/"+who, func(t *testing.T) {
				t.Parallel()
				status, page, err := stack.ScrapeAs(t.Context(), served.url, tc.token)
				require.NoError(t, err)
				assert.Equal(t, tc.want, status, tc.reason)
				assert.Equal(t, tc.want == http.StatusOK, strings.Contains(page, served.metric), "metrics are told to readers only: %s", page)
			})
		}
	}
	t.Run("Open", func(t *testing.T) {
		t.Parallel()
		status, page, err := stack.ScrapeAs(t.Context(), strings.Replace(open.Metrics(), "https:", "http:", 1), "")
		require.NoError(t, err)
		assert.Equal(t, http.StatusOK, status)
		assert.Contains(t, page, "defaultplan_controller_leader ")
	})
}

// controllerOf starts a controller that leaves alone what other tests make.
func controllerOf(e *env.Env, name string, flags ...string) *stack.Controller {
	e.Helper()
	c, err := e.StartController(e.Context(), stack.ControllerOptions{
		Name: e.Name(name), Args: append(flags, "--namespaces="+e.Namespace, "--cluster-id=metrics", "--ignore-quotas"),
	})
	require.NoError(e, err)
	e.Cleanup(func() { assert.NoError(e, c.Stop(context.WithoutCancel(e.Context()), syscall.SIGTERM)) })
	return c
}

// tokenOf makes a ServiceAccount in the namespace, and a token for it.
func tokenOf(e *env.Env, name string) string {
	e.Helper()
	e.Create(&corev1.ServiceAccount{ObjectMeta: e.Meta(name)})
	token, err := e.Token(e.Context(), e.Namespace+":"+name)
	require.NoError(e, err)
	return token
}
