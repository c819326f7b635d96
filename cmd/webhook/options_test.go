package main

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/controller-runtime/pkg/cache/informertest"

	"github.com/defaultplan/defaultplan/cmd/internal/daemon"
)

// What cannot be run is refused before anything starts: which flag, and what it may be.
func TestBadFlagsAreRefused(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		args []string
		says string
	}{
		"Unknown":         {args: []string{"--nope"}, says: "--nope"},
		"NoFlag":          {args: []string{"serve"}, says: `"serve" is no flag`},
		"Keeper":          {args: []string{"--keeper=maybe"}, says: "allowed are on, off and only"},
		"KeeperNamespace": {args: []string{"--keeper-namespace="}, says: "--namespace is empty"},
		"Port":            {args: []string{"--port=70000"}, says: "allowed are 1 to 65535"},
		"CertDir":         {args: []string{"--cert-dir="}, says: "tls.crt and tls.key"},
		"Certs":           {args: []string{"--certs=perhaps"}, says: "allowed are managed and files"},
		"CertsNamespace":  {args: []string{"--keeper=off", "--namespace="}, says: "--certs=files"},
		"CertsSecret":     {args: []string{"--certs-secret="}, says: "--certs-secret is empty"},
		"CASecret":        {args: []string{"--keeper=only", "--certs-ca-secret="}, says: "--certs-ca-secret is empty"},
		"OneSecret":       {args: []string{"--certs-ca-secret=defaultplan-webhook-certs"}, says: "a Secret of its own"},
		"LeafLifetime":    {args: []string{"--certs-leaf-lifetime=0s"}, says: "must be positive"},
		"CertsOverlap":    {args: []string{"--certs-overlap=1m", "--certs-settle=1m"}, says: "twice as long"},
		"ClientNames":     {args: []string{"--client-names=kube-apiserver"}, says: "--client-ca-file is empty"},
		"Unresolved":      {args: []string{"--unresolved=perhaps"}, says: "--unresolved"},
		"SchemaCheck":     {args: []string{"--schema-check=perhaps"}, says: "--schema-check"},
		"Gate":            {args: []string{"--feature-gates=Nope=true"}, says: "Nope"},
		"LogLevel":        {args: []string{"--log-level=loud"}, says: "log-level"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.ErrorContains(t, daemon.Start("webhook", newOptions(), tc.args), tc.says)
		})
	}
}

// Ready means that the caches are filled: an empty one would know no plan.
func TestReadyOnlyOnceTheCachesHaveSynced(t *testing.T) {
	t.Parallel()
	probe := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/readyz", nil)
	for _, filled := range []bool{false, true} {
		err := daemon.Synced(&informertest.FakeInformers{Synced: &filled})(probe)
		assert.Equal(t, filled, err == nil)
	}
}

// TestKubeconfigThatIsNotThere: the error names the flag. It calls Run and not
// daemon.Start, which a process calls once: it registers metrics and takes signals.
func TestKubeconfigThatIsNotThere(t *testing.T) {
	t.Parallel()
	o, flags := newOptions(), pflag.NewFlagSet("", pflag.ContinueOnError)
	o.Bind(flags)
	require.NoError(t, flags.Parse([]string{"--kubeconfig=/nowhere/at/all"}))
	require.ErrorContains(t, o.Run(t.Context()), "--kubeconfig")
}
