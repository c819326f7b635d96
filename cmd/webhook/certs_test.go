package main

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/defaultplan/defaultplan/certs"
)

func flagsOf(o *commandOptions) *pflag.FlagSet {
	flags := pflag.NewFlagSet("webhook", pflag.ContinueOnError)
	flags.SetOutput(io.Discard)
	o.Bind(flags)
	return flags
}

// A managed certificate is for the Service, as the API server asks for it, and for what
// else is named; the old name of the namespace's flag still counts.
func TestManagedCertificateIsForTheService(t *testing.T) {
	t.Parallel()
	o := newOptions()
	flags := flagsOf(o)
	require.NoError(t, flags.Parse([]string{"--keeper-namespace=elsewhere", "--certs-service=hooks", "--certs-hosts=127.0.0.1,a.example"}))
	require.NoError(t, o.Validate())
	assert.Equal(t, []string{"hooks.elsewhere.svc", "127.0.0.1", "a.example"}, o.certs.policyFor(o.namespace).Hosts)
}

// Files are for another to see to, and so are names and lifetimes then.
func TestFilesNeedNoPolicy(t *testing.T) {
	t.Parallel()
	o := newOptions()
	require.NoError(t, flagsOf(o).Parse([]string{"--certs=files", "--certs-secret=", "--certs-leaf-lifetime=0s"}))
	require.NoError(t, o.Validate())
}

// Pods that only serve know nothing of the authority's Secret.
func TestServingNeedsNoAuthority(t *testing.T) {
	t.Parallel()
	o := newOptions()
	require.NoError(t, flagsOf(o).Parse([]string{"--keeper=off", "--certs-ca-secret="}))
	require.NoError(t, o.Validate())
}

// The server waits for the certificate, and ends with the process if none comes.
func TestServerWaitsForTheCertificate(t *testing.T) {
	t.Parallel()
	ctx, end := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- (&drainedServer{certificate: make(chan struct{})}).Start(ctx) }()
	end()
	require.NoError(t, <-ended)
}

func TestClientCAFileIsReadAtTheStart(t *testing.T) {
	t.Parallel()
	o := newCertOptions()
	all, err := o.tls()
	require.NoError(t, err)
	assert.Empty(t, all)
	o.clientCAFile = filepath.Join(t.TempDir(), "clients.crt")
	_, err = o.tls()
	require.ErrorContains(t, err, "--client-ca-file")
	issued, err := certs.Issue("clients", []string{"x"}, time.Now(), time.Hour)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(o.clientCAFile, issued.CA.Cert, 0o600))
	asking, err := o.tls()
	require.NoError(t, err)
	assert.Len(t, asking, 1)
}
