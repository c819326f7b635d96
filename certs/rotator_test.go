package certs

import (
	"context"
	"crypto/tls"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/go-logr/logr/funcr"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
)

const ns = "ns"

func emptySecret() *corev1.Secret {
	return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "kept", ResourceVersion: "1"}}
}

func emptyAuthority() *corev1.Secret {
	return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "authority", ResourceVersion: "1"}}
}

func mutatingHooks() *admissionregistrationv1.MutatingWebhookConfiguration {
	return &admissionregistrationv1.MutatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: "hooks", ResourceVersion: "1"},
		Webhooks:   []admissionregistrationv1.MutatingWebhook{{Name: "a.example.com"}, {Name: "b.example.com"}},
	}
}

func validatingHooks() *admissionregistrationv1.ValidatingWebhookConfiguration {
	return &admissionregistrationv1.ValidatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: "hooks", ResourceVersion: "1"},
		Webhooks:   []admissionregistrationv1.ValidatingWebhook{{Name: "c.example.com"}},
	}
}

// A replica is a keeper and a serving process in one, with what both write and say.
type replica struct {
	*Rotator

	follower *Follower
	client   *fake.Clientset
	dir      string
	registry *prometheus.Registry
	recorder *events.FakeRecorder

	mu  sync.Mutex
	log strings.Builder
}

func newReplica(t *testing.T, client *fake.Clientset, edit func(*Options)) *replica {
	t.Helper()
	r := &replica{client: client, dir: t.TempDir(), registry: prometheus.NewRegistry(), recorder: events.NewFakeRecorder(100)}
	log := logr.New(funcr.New(r.write, funcr.Options{}).GetSink())
	o := Options{
		Client: client, Namespace: ns, CASecret: "authority", Secret: "kept", Configurations: "hooks", Policy: DefaultPolicy(host),
		Recorder: r.recorder, Registerer: r.registry, Clock: clock.RealClock{}, Log: log,
	}
	o.Policy.Settle = 0
	if edit != nil {
		edit(&o)
	}
	var err error
	r.Rotator, err = New(o)
	require.NoError(t, err)
	r.follower = newFollower(client, r.dir, log)
	return r
}

func newFollower(client *fake.Clientset, dir string, log logr.Logger) *Follower {
	return NewFollower(FollowerOptions{
		Client: client, Namespace: ns, Secret: "kept", Configurations: "hooks", Dir: dir, Served: func() {}, Clock: clock.RealClock{}, Log: log,
	})
}

func (r *replica) write(prefix, args string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.log.WriteString(prefix + " " + args + "\n")
}

func (r *replica) logged() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.log.String()
}

func (r *replica) start(t *testing.T) {
	t.Helper()
	// A fake client tells nothing of what is written between the list and the watch of an informer: the one that writes
	// comes last.
	run(t, r.follower.Start)
	soon(t, func() bool { return !errors.Is(r.follower.Check(nil), errNotLooked) }, "it has looked")
	run(t, r.Start)
}

func run(t *testing.T, start func(context.Context) error) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- start(ctx) }()
	t.Cleanup(func() { cancel(); assert.NoError(t, <-done) })
}

// live is a source that asks the API server.
func (r *replica) live() source {
	return live{client: r.client, namespace: ns, configurations: "hooks"}
}

// settled rounds until the Secret is served. Conflicts are tried again.
func (r *replica) settled(t *testing.T) {
	t.Helper()
	for range 10 {
		if _, err := r.round(t.Context(), r.live()); !apierrors.IsConflict(err) {
			require.NoError(t, err)
		}
		_, err := r.follower.round(t.Context(), r.live())
		require.NoError(t, err)
		if r.isReady() {
			return
		}
	}
	require.NoError(t, r.follower.Check(nil))
}

func (r *replica) isReady() bool { return r.follower.Check(nil) == nil }

func soon(t *testing.T, is func() bool, what string) {
	t.Helper()
	require.Eventually(t, is, 10*time.Second, 10*time.Millisecond, what)
}

// From an empty Secret to a certificate that both configurations trust; and again when the
// bundles are emptied, or a configuration is recreated.
func TestRotatorKeepsCertificates(t *testing.T) {
	t.Parallel()
	client := fake.NewClientset(emptyAuthority(), emptySecret(), mutatingHooks(), validatingHooks())
	r := newReplica(t, client, nil)
	require.False(t, r.NeedLeaderElection())
	require.ErrorIs(t, r.Check(nil), errNotLooked)
	require.ErrorIs(t, r.follower.Check(nil), errNotLooked)
	r.settled(t)
	served, err := tls.LoadX509KeyPair(filepath.Join(r.dir, CertFile), filepath.Join(r.dir, KeyFile))
	require.NoError(t, err)
	require.NoError(t, served.Leaf.VerifyHostname(host))

	r.start(t)
	soon(t, r.isReady, "both carry it")
	api := client.AdmissionregistrationV1()
	_, err = api.MutatingWebhookConfigurations().Update(t.Context(), mutatingHooks(), metav1.UpdateOptions{})
	require.NoError(t, err)
	filled := func() bool {
		found, err := api.MutatingWebhookConfigurations().Get(t.Context(), "hooks", metav1.GetOptions{})
		if err != nil {
			return false
		}
		for _, webhook := range found.Webhooks {
			if carried, clean := certificates(webhook.ClientConfig.CABundle); !clean || len(carried) != 1 || served.Leaf.CheckSignatureFrom(carried[0]) != nil {
				return false
			}
		}
		return len(found.Webhooks) == 2
	}
	soon(t, filled, "what was wiped is filled")
	assert.True(t, r.isReady(), "taking it out of service would not help")
	require.NoError(t, api.MutatingWebhookConfigurations().Delete(t.Context(), "hooks", metav1.DeleteOptions{}))
	_, err = api.MutatingWebhookConfigurations().Create(t.Context(), mutatingHooks(), metav1.CreateOptions{})
	require.NoError(t, err)
	soon(t, filled, "what was recreated is filled")

	assert.InDelta(t, 1, testutil.ToFloat64(r.counts.rotations.WithLabelValues(theCA)), 0)
	assert.InDelta(t, 1, testutil.ToFloat64(r.counts.rotations.WithLabelValues(theLeaf)), 0)
	assert.Equal(t, "Normal AuthorityIssued A new authority was issued: the Secret is empty", <-r.recorder.Events)
	assert.Equal(t, "Normal CertificateIssued A new certificate was issued: its certificate is missing or cannot be read", <-r.recorder.Events)
	assert.NotContains(t, r.logged(), "PRIVATE")
	assert.NotContains(t, r.logged(), "BEGIN")
}

// A second replica serves what the first one made.
func TestReplicasAgree(t *testing.T) {
	t.Parallel()
	client := fake.NewClientset(emptyAuthority(), emptySecret(), mutatingHooks(), validatingHooks())
	a, b := newReplica(t, client, nil), newReplica(t, client, nil)
	a.settled(t)
	b.settled(t)
	assert.True(t, a.follower.served.leaf.Equal(b.follower.served.leaf))
	assert.InDelta(t, 0, testutil.ToFloat64(b.counts.rotations.WithLabelValues(theCA)), 0)

	again := newFollower(client, b.dir, logr.Discard())
	assert.True(t, again.served.leaf.Equal(b.follower.served.leaf), "a container that was started again goes on with it")
}

// What stands in the way of a first certificate is named.
func TestRoundSaysWhatIsMissing(t *testing.T) {
	t.Parallel()
	forbidden := apierrors.NewForbidden(schema.GroupResource{Resource: "secrets"}, "kept", nil)
	both := []runtime.Object{emptyAuthority(), emptySecret()}
	for name, tc := range map[string]struct {
		reason  string
		objects []runtime.Object
		refuse  string // verb and resource
		says    string
	}{
		"NoSecret":     {reason: "it is shipped, and cannot be created from here", objects: both[:1], says: `Secret "ns/kept" is not there: apply deploy/certs/managed`},
		"NoAuthority":  {reason: "it is shipped, too", objects: both[1:], says: `Secret "ns/authority" is not there: apply deploy/certs/managed`},
		"MayNotRead":   {reason: "a Role is missing", objects: both, refuse: "get secrets", says: `cannot read Secret "ns/kept"`},
		"MayNotWrite":  {reason: "a Role is missing", objects: both, refuse: "patch secrets", says: `cannot write Secret "ns/authority"`},
		"MayNotLookAt": {reason: "a ClusterRole is missing", objects: both, refuse: "get mutatingwebhookconfigurations", says: `cannot read MutatingWebhookConfiguration "hooks"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			client := fake.NewClientset(tc.objects...)
			if verb, resource, ok := strings.Cut(tc.refuse, " "); ok {
				client.PrependReactor(verb, resource, func(clienttesting.Action) (bool, runtime.Object, error) { return true, nil, forbidden })
			}
			r := newReplica(t, client, nil)
			_, err := r.round(t.Context(), r.live())
			require.ErrorContains(t, err, tc.says, tc.reason)
		})
	}
}

// Of two writes against the same version one fails, and that is no trouble.
func TestAnotherReplicaIsFaster(t *testing.T) {
	t.Parallel()
	client := fake.NewClientset(emptyAuthority(), emptySecret(), mutatingHooks(), validatingHooks())
	var once sync.Once
	client.PrependReactor("patch", "*", func(clienttesting.Action) (refused bool, _ runtime.Object, err error) {
		once.Do(func() {
			refused, err = true, apierrors.NewConflict(schema.GroupResource{Resource: "secrets"}, "kept", nil)
		})
		return refused, nil, err
	})
	r := newReplica(t, client, nil)
	r.settled(t)
	r.start(t)
	soon(t, r.isReady, "it comes the next time")
	assert.NotContains(t, r.logged(), "not kept")
}

// A configuration that may not be written is told and counted, and tried again.
func TestInjectionFails(t *testing.T) {
	t.Parallel()
	client := fake.NewClientset(emptyAuthority(), emptySecret(), mutatingHooks(), validatingHooks())
	var mu sync.Mutex
	refuse := true
	client.PrependReactor("patch", "validatingwebhookconfigurations", func(clienttesting.Action) (bool, runtime.Object, error) {
		mu.Lock()
		defer mu.Unlock()
		return refuse, nil, apierrors.NewForbidden(schema.GroupResource{Resource: "validatingwebhookconfigurations"}, "hooks", nil)
	})
	r := newReplica(t, client, nil)
	// A fake client has no versions: a round that has yet to see the first authority would make another.
	_, err := r.round(t.Context(), r.live())
	require.NoError(t, err)
	run(t, r.Start)
	ready := func() error {
		_, err := r.follower.round(t.Context(), r.live())
		require.NoError(t, err)
		return r.follower.Check(nil)
	}
	soon(t, func() bool { return testutil.ToFloat64(r.counts.failures.WithLabelValues(validatingKind)) >= 2 }, "it is counted")
	assert.InDelta(t, 0, testutil.ToFloat64(r.counts.failures.WithLabelValues(mutatingKind)), 0)
	soon(t, func() bool {
		err := ready()
		return err != nil && strings.Contains(err.Error(), `webhook "c.example.com" of ValidatingWebhookConfiguration "hooks" does not carry`)
	}, "it is not ready, and says why")
	assert.Contains(t, r.logged(), "certificates are not kept")
	mu.Lock()
	refuse = false
	mu.Unlock()
	soon(t, func() bool { return ready() == nil }, "the right came")
}

// The authority of another Secret is carried, too, as soon as that is there.
func TestAlsoTrust(t *testing.T) {
	t.Parallel()
	client := fake.NewClientset(emptyAuthority(), emptySecret(), mutatingHooks(), validatingHooks())
	r := newReplica(t, client, func(o *Options) { o.AlsoTrust = "tls" })
	r.settled(t)
	r.start(t)
	soon(t, func() bool {
		err := r.Check(nil)
		return err != nil && strings.Contains(err.Error(), `ca.crt of Secret "ns/tls" is not there`)
	}, "the switch is not prepared yet")
	foreign, err := Issue("foreign", []string{host}, time.Now(), time.Hour)
	require.NoError(t, err)
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "tls"}, Data: map[string][]byte{CAFile: foreign.CA.Cert}}
	_, err = client.CoreV1().Secrets(ns).Create(t.Context(), secret, metav1.CreateOptions{})
	require.NoError(t, err)
	soon(t, func() bool { return r.Check(nil) == nil }, "both are carried")
	found, err := client.AdmissionregistrationV1().ValidatingWebhookConfigurations().Get(t.Context(), "hooks", metav1.GetOptions{})
	require.NoError(t, err)
	carried, _ := certificates(found.Webhooks[0].ClientConfig.CABundle)
	assert.Len(t, carried, 2)
}

func TestNewRefusesABadPolicy(t *testing.T) {
	t.Parallel()
	_, err := New(Options{Policy: DefaultPolicy(), Clock: clock.RealClock{}})
	require.ErrorContains(t, err, "cannot keep certificates: the certificate has no host")
}

// The metric is of the files, no matter which process wrote them.
func TestExpiryIsOfTheFiles(t *testing.T) {
	t.Parallel()
	dir, registry := t.TempDir(), prometheus.NewRegistry()
	RegisterExpiry(registry, dir)
	none, err := testutil.GatherAndCount(registry, notAfterName)
	require.NoError(t, err)
	assert.Zero(t, none, "nothing there, nothing told")
	issued, err := Issue("x", []string{host}, noon, time.Hour)
	require.NoError(t, err)
	require.NoError(t, WriteServing(dir, issued.Leaf, issued.CA.Cert))
	require.NoError(t, testutil.GatherAndCompare(registry, strings.NewReader(`
# HELP defaultplan_certificate_not_after_timestamp_seconds When the certificate that this replica serves ends, and when its authority does, in seconds since 1970.
# TYPE defaultplan_certificate_not_after_timestamp_seconds gauge
defaultplan_certificate_not_after_timestamp_seconds{certificate="ca"} 1.7776404e+09
defaultplan_certificate_not_after_timestamp_seconds{certificate="leaf"} 1.7776404e+09
`), notAfterName))
	require.NoError(t, os.Remove(filepath.Join(dir, CAFile)))
	count, err := testutil.GatherAndCount(registry, notAfterName)
	require.NoError(t, err)
	assert.Equal(t, 1, count, "a mount without an authority tells of the leaf")
}
