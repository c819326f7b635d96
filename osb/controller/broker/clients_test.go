package broker

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	testclock "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/osb"
	"github.com/defaultplan/defaultplan/osb/controller/queue"
)

func clusterBroker(url string, auth *v1beta1.ClusterServiceBrokerAuthInfo) *v1beta1.ClusterServiceBroker {
	b := &v1beta1.ClusterServiceBroker{ObjectMeta: metav1.ObjectMeta{Name: "b", UID: "1", Generation: 1}}
	b.Spec.URL, b.Spec.AuthInfo = url, auth
	return b
}

func basicAuth(secret string) *v1beta1.ClusterServiceBrokerAuthInfo {
	return &v1beta1.ClusterServiceBrokerAuthInfo{Basic: &v1beta1.ClusterBasicAuthConfig{SecretRef: &v1beta1.ObjectReference{Namespace: "n", Name: secret}}}
}

func bearerAuth(secret string) *v1beta1.ClusterServiceBrokerAuthInfo {
	return &v1beta1.ClusterServiceBrokerAuthInfo{Bearer: &v1beta1.ClusterBearerTokenAuthConfig{SecretRef: &v1beta1.ObjectReference{Namespace: "n", Name: secret}}}
}

func brokersWith(t *testing.T, objects ...client.Object) (*Clients, *testclock.FakePassiveClock, client.Client) {
	t.Helper()
	c, now := stored(t, objects...), testclock.NewFakePassiveClock(noon)
	return &Clients{Reader: c, Live: c, Clock: now, Guard: &Guard{Around: around}, Queues: freeQueues(), Reread: time.Minute}, now, c
}

func TestBrokerKeyNames(t *testing.T) {
	t.Parallel()
	assert.Equal(t, "none", Key{}.String())
	assert.Equal(t, "ClusterServiceBroker b", KeyOf(&v1beta1.BrokerTarget{ClusterServiceBrokerName: "b"}, "n").String())
	assert.Equal(t, "ServiceBroker n/b", KeyOf(&v1beta1.BrokerTarget{ServiceBrokerName: "b"}, "n").String())
	assert.Equal(t, Key{}, KeyOf(&v1beta1.BrokerTarget{}, "n"))
}

// What a broker was sent with, by its Secret. The cases share the server.
func TestBrokerClientAuthenticates(t *testing.T) {
	seen := make(chan string, 1)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		seen <- r.Header.Get("Authorization")
		_, _ = w.Write([]byte(`{"services": []}`))
	}))
	t.Cleanup(server.Close)
	secrets := []client.Object{
		secretWith("basic", map[string]string{"username": "u", "password": "p"}),
		secretWith("bearer", map[string]string{"token": "abc"}),
		secretWith("half", map[string]string{"username": "u"}),
	}
	for name, test := range map[string]struct {
		reason string
		auth   *v1beta1.ClusterServiceBrokerAuthInfo
		sent   string
		says   []string
	}{
		"None":     {reason: "none is asked for"},
		"Basic":    {reason: "username and password", auth: basicAuth("basic"), sent: "Basic dTpw"},
		"Bearer":   {reason: "a token", auth: bearerAuth("bearer"), sent: "Bearer abc"},
		"NoSecret": {reason: "what to do is said", auth: basicAuth("absent"), says: []string{`the Secret "n/absent"`, "is not there"}},
		"NoKey":    {reason: "which key is said", auth: basicAuth("half"), says: []string{`no key "password"`}},
		"NoKeys":   {reason: "all of them are", auth: basicAuth("bearer"), says: []string{`no key "username"`, `no key "password"`}},
		"NoToken":  {reason: "which key is said", auth: bearerAuth("basic"), says: []string{`no key "token"`}},
	} {
		t.Run(name, func(t *testing.T) {
			b, _, _ := brokersWith(t, append([]client.Object{clusterBroker(server.URL, test.auth)}, secrets...)...)
			c, err := b.Client(t.Context(), theBroker)
			for _, text := range test.says {
				require.ErrorContains(t, err, text, test.reason)
			}
			if len(test.says) > 0 {
				return
			}
			require.NoError(t, err)
			_, err = c.Catalog(t.Context(), "")
			require.NoError(t, err)
			assert.Equal(t, test.sent, <-seen, test.reason)
		})
	}
}

// A client is created once, and again when the broker or its Secret changes.
func TestBrokerClientIsRenewed(t *testing.T) {
	t.Parallel()
	b, now, c := brokersWith(t, clusterBroker("http://broker.example", basicAuth("auth")), secretWith("auth", map[string]string{"username": "u", "password": "p"}))
	get := func() *osb.Client {
		t.Helper()
		made, err := b.Client(t.Context(), theBroker)
		require.NoError(t, err)
		return made
	}
	rotate := func(password string) {
		t.Helper()
		var secret corev1.Secret
		require.NoError(t, c.Get(t.Context(), client.ObjectKey{Namespace: "n", Name: "auth"}, &secret))
		secret.Data["password"] = []byte(password)
		require.NoError(t, c.Update(t.Context(), &secret))
	}
	first := get()
	assert.Same(t, first, get())
	now.SetTime(noon.Add(2 * time.Minute))
	assert.Same(t, first, get(), "the Secret was read, and is the same")

	rotate("q")
	assert.Same(t, first, get(), "not yet read again")
	now.SetTime(noon.Add(4 * time.Minute))
	second := get()
	assert.NotSame(t, first, second)

	rotate("r")
	b.Forget(theBroker)
	third := get()
	assert.NotSame(t, second, third, "refused credentials are read at once")

	changed := clusterBroker("http://broker.example/v2", basicAuth("auth"))
	require.NoError(t, c.Delete(t.Context(), clusterBroker("", nil)))
	changed.UID = "2"
	require.NoError(t, c.Create(t.Context(), changed))
	assert.NotSame(t, third, get(), "another broker of that name")
}

func TestBrokerClientOfNone(t *testing.T) {
	t.Parallel()
	b, _, c := brokersWith(t)
	_, err := b.Client(t.Context(), theBroker)
	require.ErrorContains(t, err, "ClusterServiceBroker b is not there")
	_, err = b.Client(t.Context(), Key{})
	require.ErrorIs(t, err, errUnknownBroker)

	require.NoError(t, c.Create(t.Context(), clusterBroker("http://broker.example", nil)))
	b.Reader = stored(t)
	_, found, err := b.Find(t.Context(), theBroker)
	require.NoError(t, err)
	assert.True(t, found, "a cache that lags is not believed")

	require.NoError(t, c.Delete(t.Context(), clusterBroker("", nil)))
	require.NoError(t, c.Create(t.Context(), clusterBroker("ftp://broker.example", nil)))
	_, err = b.Client(t.Context(), theBroker)
	assert.ErrorContains(t, err, "URL")
}

// Only the URL of a ServiceBroker is a user's, and is guarded.
func TestBrokerClientOfANamespaceIsGuarded(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(server.Close)
	local := &v1beta1.ServiceBroker{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: "b"}}
	local.Spec.URL = server.URL
	b, _, _ := brokersWith(t, clusterBroker(server.URL, nil), local)
	guarded, err := b.Client(t.Context(), Key{Namespace: "n", Name: "b"})
	require.NoError(t, err)
	_, err = guarded.Catalog(t.Context(), "")
	require.ErrorContains(t, err, "loopback")
	assert.Equal(t, osb.NeverSent, osb.KindOf(err))
	free, err := b.Client(t.Context(), theBroker)
	require.NoError(t, err)
	_, err = free.Catalog(t.Context(), "")
	assert.NotEqual(t, osb.NeverSent, osb.KindOf(err))
}

// A broker that is gone leaves nothing behind, and one whose catalog was read is called.
func TestBrokersDropWhatIsGone(t *testing.T) {
	t.Parallel()
	b, _, _ := brokersWith(t, clusterBroker("http://broker.example", nil))
	_, err := b.Client(t.Context(), theBroker)
	require.NoError(t, err)
	require.NotEmpty(t, b.known)
	b.Drop(theBroker)
	assert.Empty(t, b.known)
	b.Drop(theBroker)
}

// A call that ends after its broker went brings nothing of it back.
func TestBrokersDropWhatIsCalled(t *testing.T) {
	t.Parallel()
	b, _, _ := brokersWith(t, clusterBroker("http://broker.example", nil))
	b.Relist = func(Key) { t.Error("a broker that is gone is to be relisted") }
	_, err := b.Client(t.Context(), theBroker)
	require.NoError(t, err)
	item := queue.Item{Kind: "ServiceInstance", NamespacedName: types.NamespacedName{Namespace: "n", Name: "i"}}
	call, _ := b.Queues.Begin(item, nil)
	require.True(t, call.Enter(theBroker.At()))
	b.Drop(theBroker)
	call.Called(&osb.Error{Kind: osb.MaybeReceived})
	b.Forget(theBroker)
	b.AskRelist(theBroker, noon)
	call.End(nil)
	assert.Empty(t, b.known)
}

func TestBrokerReady(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		reason     string
		status     v1beta1.ConditionStatus
		reconciled int64
		want       bool
	}{
		"Read":    {reason: "as its spec is now", status: v1beta1.ConditionTrue, reconciled: 1, want: true},
		"Changed": {reason: "its new address is not known to be right", status: v1beta1.ConditionTrue, reconciled: 0},
		"Away":    {reason: "it did not answer", status: v1beta1.ConditionFalse, reconciled: 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := clusterBroker("http://broker.example", nil)
			b.Status.Conditions = []v1beta1.Condition{{Type: v1beta1.ConditionReady, Status: test.status}}
			b.Status.ReconciledGeneration = test.reconciled
			assert.Equal(t, test.want, brokerOf(b).ready(), test.reason)
		})
	}
}

// What a broker's 404 means is known once it gave its catalog, also where nothing was taken over:
// it is being deleted, or a class could not be written.
func TestBrokerAnsweredSince(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(`{"services": []}`)) }))
	t.Cleanup(server.Close)
	for name, test := range map[string]struct {
		reason string
		// changed edits the broker after it was asked.
		changed func(*v1beta1.ClusterServiceBroker)
		silent  bool
		since   time.Time
		want    bool
	}{
		"Answered": {reason: "its address is right", since: noon, want: true},
		"Before":   {reason: "that was before the removal", since: noon.Add(time.Second)},
		"Silent":   {reason: "it was not asked, and its status does not say so", since: noon, silent: true},
		"Moved":    {reason: "its new address may be wrong", since: noon, changed: func(b *v1beta1.ClusterServiceBroker) { b.Generation++ }},
		"Another":  {reason: "it has only the same name", since: noon, changed: func(b *v1beta1.ClusterServiceBroker) { b.UID = "2" }},
		"Stored": {reason: "another process asked it", since: noon, silent: true, want: true, changed: func(b *v1beta1.ClusterServiceBroker) {
			b.Status.LastCatalogRetrievalTime, b.Status.ReconciledGeneration = new(metav1.NewTime(noon)), b.Generation
			b.Status.Conditions = []v1beta1.Condition{{Type: v1beta1.ConditionReady, Status: v1beta1.ConditionTrue}}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			registered := clusterBroker(server.URL, nil)
			b, _, _ := brokersWith(t, registered)
			if !test.silent {
				_, err := b.Catalog(t.Context(), registered, "")
				require.NoError(t, err)
			}
			if test.changed != nil {
				test.changed(registered)
			}
			assert.Equal(t, test.want, b.AnsweredSince(theBroker, brokerOf(registered), test.since), test.reason)
		})
	}
}

// However many calls find that a catalog is not as it was, it is asked for once in a
// while.
func TestRelistsAreAskedForOnceInAWhile(t *testing.T) {
	t.Parallel()
	b, _, _ := brokersWith(t)
	var asked []Key
	other := Key{Name: "other"}
	b.known = map[Key]*acquaintance{theBroker: {}, other: {}}
	b.Relist = func(key Key) { asked = append(asked, key) }
	for _, after := range []time.Duration{0, time.Second, relistPause - 1, relistPause} {
		b.AskRelist(theBroker, noon.Add(after))
	}
	b.AskRelist(other, noon)
	assert.Equal(t, []Key{theBroker, theBroker, other}, asked)
}
