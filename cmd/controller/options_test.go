package main

import (
	"testing"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"

	"github.com/defaultplan/defaultplan/cmd/internal/daemon"
)

// What cannot be run is refused before anything starts: which flag, and what it may be.
func TestBadFlagsAreRefused(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		args []string
		says string
	}{
		"Unknown":        {args: []string{"--nope"}, says: "--nope"},
		"NoFlag":         {args: []string{"work"}, says: `"work" is no flag`},
		"LeaseNamespace": {args: []string{"--lease-namespace="}, says: "--leader-elect=false"},
		"Timeout":        {args: []string{"--osb-api-request-timeout=0s"}, says: "--osb-api-request-timeout"},
		"Polling":        {args: []string{"--maximum-polling-duration=-1s"}, says: "--maximum-polling-duration"},
		"Relist":         {args: []string{"--broker-relist-interval=0"}, says: "--broker-relist-interval"},
		"Secrets":        {args: []string{"--secret-interval=0"}, says: "--secret-interval"},
		"Workers":        {args: []string{"--workers=0"}, says: "--workers"},
		"Addresses":      {args: []string{"--allow-broker-addresses=here"}, says: `"here"`},
		"ControllerName": {args: []string{"--controller-name=East"}, says: "--controller-name"},
		"Namespaces":     {args: []string{"--namespaces=a"}, says: "--cluster-id"},
		"LogLevel":       {args: []string{"--log-level=loud"}, says: "log-level"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.ErrorContains(t, daemon.Start("controller", newOptions(), tc.args), tc.says)
		})
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
