package certs_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
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
	"github.com/defaultplan/defaultplan/e2e/stack"
)

const (
	namespace      = "defaultplan-system"
	managedSecret  = "defaultplan-webhook-certs"
	configurations = "defaultplan-webhook"
)

// A world is a stack, and questions about its certificates.
type world struct {
	*testing.T
	*stack.Stack

	dir string
}

// eventually waits for something, for at most so long.
func (w *world) eventually(within time.Duration, is func(ctx context.Context) (bool, error), what string) {
	w.Helper()
	ctx, cancel := context.WithTimeout(w.Context(), within)
	defer cancel()
	require.NoError(w, stack.Eventually(ctx, func() (bool, error) { return is(ctx) }), what)
}

// secret is the Secret of a name, in the installation's namespace.
func (w *world) secret(ctx context.Context, name string) (*corev1.Secret, error) {
	secret := &corev1.Secret{}
	err := w.Client().Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, secret)
	return secret, err
}

// bundles are the caBundles of every webhook of both configurations.
func (w *world) bundles(ctx context.Context) ([][]byte, error) {
	mutating, validating := &admissionregistrationv1.MutatingWebhookConfiguration{}, &admissionregistrationv1.ValidatingWebhookConfiguration{}
	for _, object := range []client.Object{mutating, validating} {
		if err := w.Client().Get(ctx, client.ObjectKey{Name: configurations}, object); err != nil {
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
func (w *world) carried(ctx context.Context) ([]*x509.Certificate, error) {
	all, err := w.bundles(ctx)
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
func (w *world) served(ctx context.Context) (*x509.Certificate, error) {
	address := strings.TrimPrefix(w.WebhookURL(""), "https://")
	conn, err := (&tls.Dialer{Config: &tls.Config{InsecureSkipVerify: true}}).DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	defer func() { _ = conn.Close() }()
	return conn.(*tls.Conn).ConnectionState().PeerCertificates[0], nil
}

// allServe says whether both replicas serve a leaf of the authority, and all bundles hold it.
func (w *world) allServe(ctx context.Context, ca *x509.Certificate) (bool, error) {
	carried, err := w.carried(ctx)
	if err != nil || !has(carried, ca) {
		return false, err
	}
	for range 2 {
		leaf, err := w.served(ctx)
		if err != nil || leaf.CheckSignatureFrom(ca) != nil {
			return false, err
		}
	}
	return true, nil
}

// whole is the authority of the Secret, if the Secret holds it and a leaf of it whole.
func (w *world) whole(ctx context.Context) (*x509.Certificate, error) {
	secret, err := w.secret(ctx, managedSecret)
	if err != nil {
		return nil, err
	}
	ca, err := tls.X509KeyPair(secret.Data[certs.CAFile], secret.Data["ca.key"])
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
func (w *world) settled(ctx context.Context) (bool, error) {
	ca, err := w.whole(ctx)
	if err != nil {
		return false, err
	}
	return w.allServe(ctx, ca)
}

// metric sums a metric over both replicas; a series that is absent is 0.
func (w *world) metric(series string) float64 {
	w.Helper()
	sum := 0.0
	for i := range 2 {
		request, err := http.NewRequestWithContext(w.Context(), http.MethodGet, w.WebhookMetrics(i), http.NoBody)
		require.NoError(w, err)
		response, err := http.DefaultClient.Do(request)
		require.NoError(w, err)
		body, err := io.ReadAll(response.Body)
		require.NoError(w, err)
		require.NoError(w, response.Body.Close())
		for line := range strings.Lines(string(body)) {
			if value, ok := strings.CutPrefix(line, series+" "); ok {
				number, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
				require.NoError(w, err)
				sum += number
			}
		}
	}
	return sum
}

// removePod ends a replica, and what it had in its serving folder: so does a pod that is
// deleted.
func (w *world) removePod(i int) {
	w.Helper()
	require.NoError(w, w.StopWebhook(w.Context(), i, endSignal))
	require.NoError(w, os.RemoveAll(filepath.Join(w.dir, "certs", fmt.Sprintf("webhook-%d", i))))
}

// tellNoKey looks for keys where none may be.
func (w *world) tellNoKey() {
	for i := range 2 {
		content, err := os.ReadFile(w.WebhookLog(i))
		assert.NoError(w, err)
		assert.NotContains(w, string(content), "PRIVATE", "the log of replica %d", i)
		assert.NotContains(w, string(content), "BEGIN", "the log of replica %d", i)
	}
}
