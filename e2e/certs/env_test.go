package certs_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/certs"
	"github.com/defaultplan/defaultplan/e2e/env"
	"github.com/defaultplan/defaultplan/e2e/stack"
	"github.com/defaultplan/defaultplan/e2e/stack/suite"
	"github.com/defaultplan/defaultplan/e2e/stack/wait"
)

const (
	namespace      = "defaultplan-system"
	managedSecret  = "defaultplan-webhook-certs"
	caSecret       = "defaultplan-keeper-ca"
	configurations = "defaultplan-webhook"
)

// A testEnv is a stack of two webhooks behind one address that make their certificates
// themselves, with the rights that are shipped, and questions about its certificates.
type testEnv struct{ *env.Env }

// newEnv starts one, with further flags of its webhooks.
func newEnv(t *testing.T, args ...string) *testEnv {
	t.Helper()
	s := suite.New(t, stack.Options{Webhooks: 2, ManagedCerts: true, WebhookArgs: args})
	e := &testEnv{env.On(t, s).InNamespace(namespace)}
	t.Cleanup(e.logsNoKey)
	return e
}

// eventually waits for something, for at most so long.
func (e *testEnv) eventually(within time.Duration, is func(ctx context.Context) (bool, error), what string) {
	e.Helper()
	require.NoError(e, wait.EventuallyWithin(e.Context(), within, func() (bool, error) { return is(e.Context()) }), what)
}

// secret is the Secret of a name, in the installation's namespace.
func (e *testEnv) secret(ctx context.Context, name string) (*corev1.Secret, error) {
	secret := &corev1.Secret{}
	err := e.Client().Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, secret)
	return secret, err
}

// bundles are the caBundles of every webhook of both configurations.
func (e *testEnv) bundles(ctx context.Context) ([][]byte, error) {
	mutating, validating := &admissionregistrationv1.MutatingWebhookConfiguration{}, &admissionregistrationv1.ValidatingWebhookConfiguration{}
	for _, object := range []client.Object{mutating, validating} {
		if err := e.Client().Get(ctx, client.ObjectKey{Name: configurations}, object); err != nil {
			return nil, err
		}
	}
	var all [][]byte
	for _, webhook := range mutating.Webhooks {
		all = append(all, webhook.ClientConfig.CABundle)
	}
	for _, webhook := range validating.Webhooks {
		all = append(all, webhook.ClientConfig.CABundle)
	}
	return all, nil
}

// carried is what all bundles hold, if they are the same, and says so if not.
func (e *testEnv) carried(ctx context.Context) ([]*x509.Certificate, error) {
	all, err := e.bundles(ctx)
	if err != nil {
		return nil, err
	}
	for _, bundle := range all[1:] {
		if !bytes.Equal(bundle, all[0]) {
			return nil, fmt.Errorf("%d bundles are not the same", len(all))
		}
	}
	return parse(all[0])
}

func parse(bundle []byte) ([]*x509.Certificate, error) {
	var found []*x509.Certificate
	for {
		var block *pem.Block
		if block, bundle = pem.Decode(bundle); block == nil {
			return found, nil
		}
		cert, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return nil, err
		}
		found = append(found, cert)
	}
}

func has(all []*x509.Certificate, one *x509.Certificate) bool {
	for _, cert := range all {
		if cert.Equal(one) {
			return true
		}
	}
	return false
}

// served is the certificate of whichever replica's turn it is.
func (e *testEnv) served(ctx context.Context) (*x509.Certificate, error) {
	address := strings.TrimPrefix(e.WebhookURL(""), "https://")
	conn, err := (&tls.Dialer{Config: &tls.Config{InsecureSkipVerify: true}}).DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	defer func() { _ = conn.Close() }()
	return conn.(*tls.Conn).ConnectionState().PeerCertificates[0], nil
}

// allServe says whether both replicas serve a leaf of the authority, and all bundles hold it.
func (e *testEnv) allServe(ctx context.Context, ca *x509.Certificate) (bool, error) {
	carried, err := e.carried(ctx)
	if err != nil || !has(carried, ca) {
		return false, err
	}
	for range 2 {
		leaf, err := e.served(ctx)
		if err != nil || leaf.CheckSignatureFrom(ca) != nil {
			return false, err
		}
	}
	return true, nil
}

// whole is the authority, if its Secret holds it with its key, and the other a leaf of it.
func (e *testEnv) whole(ctx context.Context) (*x509.Certificate, error) {
	secret, err := e.secret(ctx, managedSecret)
	if err != nil {
		return nil, err
	}
	if len(secret.Data["ca.key"]) > 0 {
		return nil, errors.New("the authority's key is where the webhook reads")
	}
	authority, err := e.secret(ctx, caSecret)
	if err != nil {
		return nil, err
	}
	ca, err := tls.X509KeyPair(authority.Data[certs.CAFile], authority.Data["ca.key"])
	if err != nil {
		return nil, err
	}
	leaf, err := tls.X509KeyPair(secret.Data[certs.CertFile], secret.Data[certs.KeyFile])
	if err != nil {
		return nil, err
	}
	if err := leaf.Leaf.CheckSignatureFrom(ca.Leaf); err != nil {
		return nil, err
	}
	return ca.Leaf, leaf.Leaf.VerifyHostname("127.0.0.1")
}

// settled says whether the Secret is whole, served and trusted.
func (e *testEnv) settled(ctx context.Context) (bool, error) {
	ca, err := e.whole(ctx)
	if err != nil {
		return false, err
	}
	return e.allServe(ctx, ca)
}

// metric sums a metric over both replicas; a series that is absent is 0.
func (e *testEnv) metric(series string) float64 {
	e.Helper()
	sum := 0.0
	for i := range 2 {
		text, err := e.Scrape(e.Context(), e.WebhookMetrics(i))
		require.NoError(e, err)
		for line := range strings.Lines(text) {
			if value, ok := strings.CutPrefix(line, series+" "); ok {
				number, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
				require.NoError(e, err)
				sum += number
			}
		}
	}
	return sum
}

// removePod ends a replica, and what it had in its serving folder: so does a pod that is
// deleted.
func (e *testEnv) removePod(i int) {
	e.Helper()
	require.NoError(e, e.StopWebhook(e.Context(), i, endSignal))
	require.NoError(e, os.RemoveAll(e.Path("certs", fmt.Sprintf("webhook-%d", i))))
}

// logsNoKey looks for keys where none may be.
func (e *testEnv) logsNoKey() {
	for i := range 2 {
		content, err := os.ReadFile(e.WebhookLog(i))
		assert.NoError(e, err)
		assert.NotContains(e, string(content), "PRIVATE", "the log of replica %d", i)
		assert.NotContains(e, string(content), "BEGIN", "the log of replica %d", i)
	}
}
