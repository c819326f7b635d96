package certs

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/utils/clock"
	clocktesting "k8s.io/utils/clock/testing"
)

// A serving process that starts before there is a Secret waits and says for what, serves
// what comes, and goes on with it when the keeper and the Secret are gone. It writes
// nothing.
func TestFollowerOnlyReads(t *testing.T) {
	t.Parallel()
	client := fake.NewClientset(mutatingHooks(), validatingHooks())
	served := make(chan struct{}, 10)
	f := NewFollower(FollowerOptions{
		Client: client, Namespace: ns, Secret: "kept", Configurations: "hooks", Dir: t.TempDir(),
		Served: func() { served <- struct{}{} }, Clock: clock.RealClock{}, Log: logr.Discard(),
	})
	run(t, f.Start)
	soon(t, func() bool {
		err := f.Check(nil)
		return err != nil && strings.Contains(err.Error(), `Secret "ns/kept" is not there`)
	}, "it says what it waits for")
	assert.Empty(t, served)

	require.NoError(t, client.Tracker().Add(emptyAuthority()))
	require.NoError(t, client.Tracker().Add(emptySecret()))
	keeper := newReplica(t, client, nil)
	keeper.settled(t)
	soon(t, func() bool { return f.Check(nil) == nil }, "it serves what came")
	<-served

	require.NoError(t, client.CoreV1().Secrets(ns).Delete(t.Context(), "kept", metav1.DeleteOptions{}))
	again := newFollower(client, f.options.Dir, logr.Discard())
	_, err := again.round(t.Context(), keeper.live())
	require.ErrorContains(t, err, "is not there")
	require.NoError(t, again.Check(nil), "what it served before it was started again is trusted still")
}

func TestFollowerWritesNothing(t *testing.T) {
	t.Parallel()
	client := fake.NewClientset(emptyAuthority(), emptySecret(), mutatingHooks(), validatingHooks())
	keeper := newReplica(t, client, nil)
	keeper.settled(t)
	client.ClearActions()
	f := newFollower(client, t.TempDir(), logr.Discard())
	_, err := f.round(t.Context(), keeper.live())
	require.NoError(t, err)
	require.NoError(t, f.Check(nil))
	for _, action := range client.Actions() {
		assert.Equal(t, "get", action.GetVerb())
		assert.NotContains(t, action.(clienttesting.GetAction).GetName(), "authority")
	}
}

// The authority's key is in its own Secret alone.
func TestTheKeyIsTheKeepers(t *testing.T) {
	t.Parallel()
	client := fake.NewClientset(emptyAuthority(), emptySecret(), mutatingHooks(), validatingHooks())
	newReplica(t, client, nil).settled(t)
	assert.Equal(t, []string{CAFile, CertFile, KeyFile}, keysOf(t, client, "kept"))
	assert.Equal(t, []string{CAFile, caKeyFile}, keysOf(t, client, "authority"))
}

// As long as the new leaf cannot be written, the authority of the one that is served is trusted, however long that is.
func TestAnAuthorityInUseStays(t *testing.T) {
	t.Parallel()
	client := fake.NewClientset(emptyAuthority(), emptySecret(), mutatingHooks(), validatingHooks())
	clk := clocktesting.NewFakeClock(time.Now())
	k := newReplica(t, client, func(o *Options) { o.Clock = clk })
	k.follower.options.Clock = clk
	k.settled(t)
	served := k.follower.served.ca
	authority, err := client.CoreV1().Secrets(ns).Get(t.Context(), "authority", metav1.GetOptions{})
	require.NoError(t, err)
	delete(authority.Data, caKeyFile)
	_, err = client.CoreV1().Secrets(ns).Update(t.Context(), authority, metav1.UpdateOptions{})
	require.NoError(t, err)
	refuse := true
	client.PrependReactor("patch", "secrets", func(action clienttesting.Action) (bool, runtime.Object, error) {
		patch, is := action.(clienttesting.PatchAction)
		if !is || !refuse || patch.GetName() != "kept" {
			return false, nil, nil
		}
		return true, nil, apierrors.NewForbidden(schema.GroupResource{Resource: "secrets"}, "kept", nil)
	})
	for range 100 {
		_, _ = k.round(t.Context(), k.live())
		_, err = k.follower.round(t.Context(), k.live())
		require.NoError(t, err)
		require.NoError(t, k.follower.Check(nil))
		clk.Step(DefaultPolicy(host).Overlap / 10)
	}
	assert.True(t, k.follower.served.ca.Equal(served))

	refuse = false
	for range 100 {
		_, err = k.round(t.Context(), k.live())
		require.NoError(t, err)
		_, err = k.follower.round(t.Context(), k.live())
		require.NoError(t, err)
		require.NoError(t, k.follower.Check(nil))
		clk.Step(DefaultPolicy(host).Overlap / 10)
	}
	var w snapshot
	require.NoError(t, w.configure(t.Context(), k.live(), "hooks"))
	assert.Len(t, carriedByAny(w.seen.bundles), 1, "once it is not in use, it leaves")
}

// What informers cannot read is said, in the log and by the probes.
func TestAMissingRightIsSaid(t *testing.T) {
	t.Parallel()
	client := fake.NewClientset(emptyAuthority(), emptySecret(), mutatingHooks(), validatingHooks())
	for _, verb := range []string{"get", "list", "watch"} {
		refuse := func(clienttesting.Action) (bool, runtime.Object, error) {
			return true, nil, apierrors.NewForbidden(schema.GroupResource{Resource: "secrets"}, "kept", nil)
		}
		client.PrependReactor(verb, "secrets", refuse)
	}
	client.PrependWatchReactor("secrets", func(clienttesting.Action) (bool, watch.Interface, error) {
		return true, nil, apierrors.NewForbidden(schema.GroupResource{Resource: "secrets"}, "kept", nil)
	})
	k := newReplica(t, client, nil)
	k.observer.patience, k.follower.observer.patience = time.Millisecond, time.Millisecond
	k.start(t)
	for _, check := range []func(*http.Request) error{k.Check, k.follower.Check} {
		soon(t, func() bool {
			err := check(nil)
			return err != nil && strings.Contains(err.Error(), `cannot read Secret "ns/`)
		}, "the probe says it")
	}
	soon(t, func() bool {
		return strings.Contains(k.logged(), "certificates are not kept") && strings.Contains(k.logged(), "certificates are not followed")
	}, "the log says it")
}

// A certificate that has expired is no reason to be asked.
func TestAnExpiredLeafIsNotReady(t *testing.T) {
	t.Parallel()
	client := fake.NewClientset(emptyAuthority(), emptySecret(), mutatingHooks(), validatingHooks())
	k := newReplica(t, client, nil)
	k.settled(t)
	f := newFollower(client, t.TempDir(), logr.Discard())
	f.options.Clock = clocktesting.NewFakeClock(time.Now().Add(2 * DefaultPolicy(host).LeafLifetime))
	_, err := f.round(t.Context(), k.live())
	require.NoError(t, err)
	require.ErrorContains(t, f.Check(nil), "the certificate that is served expired at ")
}

func keysOf(t *testing.T, client *fake.Clientset, name string) (keys []string) {
	t.Helper()
	secret, err := client.CoreV1().Secrets(ns).Get(t.Context(), name, metav1.GetOptions{})
	require.NoError(t, err)
	for key, content := range secret.Data {
		if len(content) > 0 {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	return keys
}

// lastRelease is the Secret as older versions wrote it, with the key, and what it has the
// configurations carry.
func lastRelease(t *testing.T) (*corev1.Secret, Issued) {
	t.Helper()
	issued, err := Issue("older", []string{host}, time.Now(), 365*24*time.Hour)
	require.NoError(t, err)
	secret := emptySecret()
	secret.Data = map[string][]byte{CAFile: issued.CA.Cert, caKeyFile: issued.CA.Key, CertFile: issued.Leaf.Cert, KeyFile: issued.Leaf.Key}
	return secret, issued
}

// An upgrade: the key that webhook pods could read goes, and signs nothing any more; the
// authority that it was of stays trusted beside the new one, so pods of both releases are
// trusted all the while.
func TestUpgradeTakesTheKeyOut(t *testing.T) {
	t.Parallel()
	secret, issued := lastRelease(t)
	mutating, validating := mutatingHooks(), validatingHooks()
	for i := range mutating.Webhooks {
		mutating.Webhooks[i].ClientConfig.CABundle = issued.CA.Cert
	}
	validating.Webhooks[0].ClientConfig.CABundle = issued.CA.Cert
	client := fake.NewClientset(emptyAuthority(), secret, mutating, validating)
	keeper := newReplica(t, client, nil)

	before := newFollower(client, t.TempDir(), logr.Discard())
	_, err := before.round(t.Context(), keeper.live())
	require.NoError(t, err)
	require.NoError(t, before.Check(nil), "a new pod serves, and is trusted, before there is a keeper")

	old := first(issued.CA.Cert)
	for step := range 4 {
		_, err := keeper.round(t.Context(), keeper.live())
		require.NoError(t, err)
		w := snapshot{}
		require.NoError(t, w.configure(t.Context(), keeper.live(), "hooks"))
		assert.True(t, carriedByAll(w.seen.bundles, old), "step %d: the old authority is trusted", step)
		after := newFollower(client, t.TempDir(), logr.Discard())
		_, err = after.round(t.Context(), keeper.live())
		require.NoError(t, err)
		require.NoError(t, after.Check(nil), "step %d: what the Secret holds is trusted whenever a pod starts", step)
	}
	assert.Equal(t, []string{CAFile, CertFile, KeyFile}, keysOf(t, client, "kept"))
	moved, err := client.CoreV1().Secrets(ns).Get(t.Context(), "authority", metav1.GetOptions{})
	require.NoError(t, err)
	assert.NotEqual(t, issued.CA.Key, moved.Data[caKeyFile], "the old key signs nothing that lasts")
	leaving := decodeLeaving(moved.Data[leavingFile])
	require.Len(t, leaving, 1)
	assert.True(t, leaving[0].cert.Equal(old))
}

// A leaf that is trusted is not replaced by one of an authority that could not be put
// into the configurations.
func TestLeafWaitsForTheConfigurations(t *testing.T) {
	t.Parallel()
	client := fake.NewClientset(emptyAuthority(), emptySecret(), mutatingHooks(), validatingHooks())
	keeper := newReplica(t, client, nil)
	keeper.settled(t)
	kept := func(name string) *corev1.Secret {
		secret, err := client.CoreV1().Secrets(ns).Get(t.Context(), name, metav1.GetOptions{})
		require.NoError(t, err)
		return secret
	}
	before := kept("kept").Data
	authority := kept("authority")
	delete(authority.Data, caKeyFile)
	_, err := client.CoreV1().Secrets(ns).Update(t.Context(), authority, metav1.UpdateOptions{})
	require.NoError(t, err)
	client.PrependReactor("patch", "validatingwebhookconfigurations", func(clienttesting.Action) (bool, runtime.Object, error) {
		return true, nil, apierrors.NewForbidden(schema.GroupResource{Resource: "validatingwebhookconfigurations"}, "hooks", nil)
	})
	_, err = keeper.round(t.Context(), keeper.live())
	require.NoError(t, err)
	assert.NotEmpty(t, kept("authority").Data[caKeyFile], "a new authority is remembered first")
	_, err = keeper.round(t.Context(), keeper.live())
	require.ErrorContains(t, err, "cannot put the authority into")
	assert.Equal(t, before, kept("kept").Data)
}

// A Secret that is put back from long ago takes nothing from a pod that serves.
func TestAnExpiredLeafIsNotTaken(t *testing.T) {
	t.Parallel()
	client := fake.NewClientset(emptyAuthority(), emptySecret(), mutatingHooks(), validatingHooks())
	clk := clocktesting.NewFakeClock(time.Now())
	k := newReplica(t, client, func(o *Options) { o.Clock = clk })
	k.follower.options.Clock = clk
	k.settled(t)
	old, err := client.CoreV1().Secrets(ns).Get(t.Context(), "kept", metav1.GetOptions{})
	require.NoError(t, err)
	clk.Step(DefaultPolicy(host).LeafLifetime * 9 / 10)
	k.settled(t)
	served := k.follower.served.leaf
	clk.Step(DefaultPolicy(host).LeafLifetime / 5)
	_, err = client.CoreV1().Secrets(ns).Update(t.Context(), old, metav1.UpdateOptions{})
	require.NoError(t, err)
	_, err = k.follower.round(t.Context(), k.live())
	require.NoError(t, err)
	require.NoError(t, k.follower.Check(nil))
	assert.True(t, k.follower.served.leaf.Equal(served))
}
