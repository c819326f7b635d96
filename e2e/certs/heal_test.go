package certs_test

import (
	"context"
	"encoding/json"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/certs"
)

const endSignal = syscall.SIGTERM

// What is installed is an empty Secret and configurations without a bundle; both replicas
// start at once. And whatever is done to the Secret or the configurations later is healed.
func TestCertificatesAreMadeAndHealed(t *testing.T) {
	t.Parallel()
	e := newEnv(t, "--certs-settle=1s", "--certs-overlap=4s")
	e.firstInstall()
	e.damages()
	e.wiped()
	e.madeAnew()
	e.isTold()
}

// firstInstall is that of empty Secrets: two replicas race, and agree.
func (e *testEnv) firstInstall() {
	e.Helper()
	for i := range 2 {
		e.removePod(i)
	}
	ctx := e.Context()
	for _, name := range []string{managedSecret, caSecret} {
		secret, err := e.secret(ctx, name)
		require.NoError(e, err)
		require.NoError(e, e.Client().Delete(ctx, secret))
		require.NoError(e, e.Client().Create(ctx, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}))
	}
	e.wipe(ctx, mutating, validating)

	require.Error(e, (&load{env: e}).create(ctx), "no authority is trusted")
	started := time.Now()
	failed := make(chan error, 2)
	for i := range 2 {
		go func() { failed <- e.StartWebhook(ctx, i) }()
	}
	e.eventually(30*time.Second, func(ctx context.Context) (bool, error) {
		err := (&load{env: e}).create(ctx)
		return err == nil, err
	}, "a create is answered")
	e.Logf("%s after two replicas were started with an empty Secret, a create was answered", time.Since(started).Round(time.Millisecond))
	require.NoError(e, <-failed)
	require.NoError(e, <-failed)
	e.eventually(10*time.Second, e.settled, "both serve what the Secret holds")
	assert.InDelta(e, 1, e.metric(`defaultplan_certificate_rotations_total{certificate="ca"}`), 0, "one of the two made the authority")
	assert.InDelta(e, 1, e.metric(`defaultplan_certificate_rotations_total{certificate="leaf"}`), 0, "one of the two made the leaf")
}

// damages are done to the Secrets, one after the other, under load.
func (e *testEnv) damages() {
	e.Helper()
	load := e.underLoad()
	other, err := certs.Issue("other", []string{"127.0.0.1"}, time.Now(), time.Hour)
	require.NoError(e, err)
	expired, err := certs.Issue("expired", []string{"127.0.0.1"}, time.Now().Add(-2*time.Hour), time.Hour)
	require.NoError(e, err)
	garbage := []byte("-----BEGIN CERTIFICATE-----\nnone\n-----END CERTIFICATE-----\n")
	for name, data := range map[string]map[string][]byte{
		"CertificateIsGarbage": {certs.CertFile: garbage},
		"KeyOfAnother":         {certs.KeyFile: other.Leaf.Key},
		"LeafOfAnother":        {certs.CertFile: other.Leaf.Cert, certs.KeyFile: other.Leaf.Key},
		"AuthorityWithoutKey":  {"ca.key": nil},
		"AuthorityExpired":     {certs.CAFile: expired.CA.Cert, "ca.key": expired.CA.Key},
		"AuthorityIsGarbage":   {certs.CAFile: garbage},
		"NothingLeft":          {certs.CAFile: nil, "ca.key": nil, certs.CertFile: nil, certs.KeyFile: nil, "leaving.crt": nil},
	} {
		parts := map[string]map[string][]byte{managedSecret: {}, caSecret: {}}
		for key, content := range data {
			of := caSecret
			if key == certs.CertFile || key == certs.KeyFile {
				of = managedSecret
			}
			parts[of][key] = content
		}
		for of, part := range parts {
			patch, err := json.Marshal(map[string]any{"data": part})
			require.NoError(e, err)
			secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: of}}
			require.NoError(e, e.Client().Patch(e.Context(), secret, client.RawPatch(types.MergePatchType, patch)))
		}
		e.eventually(20*time.Second, e.settled, name)
	}
	load.done()
}

var (
	mutating   = &admissionregistrationv1.MutatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{Name: configurations}}
	validating = &admissionregistrationv1.ValidatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{Name: configurations}}
)

// wipe empties the bundles of configurations.
func (e *testEnv) wipe(ctx context.Context, which ...client.Object) {
	e.Helper()
	for _, object := range which {
		object = object.DeepCopyObject().(client.Object)
		require.NoError(e, e.Client().Get(ctx, client.ObjectKeyFromObject(object), object))
		switch c := object.(type) {
		case *admissionregistrationv1.MutatingWebhookConfiguration:
			for i := range c.Webhooks {
				c.Webhooks[i].ClientConfig.CABundle = nil
			}
		case *admissionregistrationv1.ValidatingWebhookConfiguration:
			for i := range c.Webhooks {
				c.Webhooks[i].ClientConfig.CABundle = nil
			}
		}
		require.NoError(e, e.Client().Update(ctx, object))
	}
}

// wiped is what helm or kubectl may do to the bundles.
func (e *testEnv) wiped() {
	e.Helper()
	e.wipe(e.Context(), mutating, validating)
	at := time.Now()
	e.eventually(5*time.Second, e.settled, "the bundles are filled again")
	e.Logf("bundles that were emptied were filled after %s", time.Since(at).Round(time.Millisecond))
}

// madeAnew is a configuration that was deleted and comes again.
func (e *testEnv) madeAnew() {
	e.Helper()
	ctx := e.Context()
	require.NoError(e, e.Client().Delete(ctx, mutating.DeepCopy()))
	require.NoError(e, e.Client().Delete(ctx, validating.DeepCopy()))
	require.NoError(e, e.InstallHooks(ctx))
	e.eventually(5*time.Second, e.settled, "new configurations get the authority")
}

// isTold looks for the events on the Secret.
func (e *testEnv) isTold() {
	e.Helper()
	e.eventually(15*time.Second, func(ctx context.Context) (bool, error) {
		list := &corev1.EventList{}
		if err := e.Client().List(ctx, list, client.InNamespace(namespace)); err != nil {
			return false, err
		}
		told := map[string]bool{}
		for _, event := range list.Items {
			if event.InvolvedObject.Name == managedSecret || event.InvolvedObject.Name == caSecret {
				told[event.Reason] = true
				assert.NotContains(e, event.Message, "-----", "no certificate, no key")
			}
		}
		return told["AuthorityIssued"] && told["CertificateIssued"], nil
	}, "events say what was made, and why")
}
