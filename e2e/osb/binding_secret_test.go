package osb_test

import (
	"bytes"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/osb/osbtest"
)

// Whatever way a broker gives credentials, they are in the Secret before status tells of
// them, and asked for once.
func TestSecretIsCompleteBeforeStatusTells(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason string
		edits  []func(*setting)
		polls  int
		verbs  map[osbtest.Verb]int
		keys   map[string]string // nil: they do not matter here
	}{
		"DrainSync": {
			reason: "what is no credential is given too", edits: []func(*setting){giving(nil), draining}, polls: -1,
			verbs: map[osbtest.Verb]int{osbtest.Bind: 1, osbtest.FetchBinding: 0, osbtest.Unbind: 0}, keys: drained,
		},
		"DrainAsyncFetched": {
			reason: "and fetched", edits: []func(*setting){fetchable, giving(nil), draining}, polls: 1,
			verbs: map[osbtest.Verb]int{osbtest.Bind: 1, osbtest.FetchBinding: 1, osbtest.Unbind: 0}, keys: drained,
		},
		"NoneAsyncFetched": {
			reason: "a broker may give nothing", edits: []func(*setting){fetchable, giving(nil)}, polls: 1,
			verbs: map[osbtest.Verb]int{osbtest.Bind: 1, osbtest.FetchBinding: 1, osbtest.Unbind: 0}, keys: map[string]string{},
		},
		"NoneAsyncAskedFor": {
			reason: "nor does it where it is asked again", edits: []func(*setting){giving(nil)}, polls: 1,
			verbs: map[osbtest.Verb]int{osbtest.Bind: 2, osbtest.FetchBinding: 0, osbtest.Unbind: 0}, keys: map[string]string{},
		},
		"Sync":          {reason: "the answer has them", edits: []func(*setting){oneShot}, polls: -1, verbs: map[osbtest.Verb]int{osbtest.Bind: 1, osbtest.FetchBinding: 0}},
		"AsyncFetched":  {reason: "they are given once: they are fetched once", edits: []func(*setting){fetchable, oneShot}, polls: 1, verbs: map[osbtest.Verb]int{osbtest.Bind: 1, osbtest.FetchBinding: 1}},
		"AsyncAskedFor": {reason: "they come with the answer to the same request", polls: 1, verbs: map[osbtest.Verb]int{osbtest.Bind: 2, osbtest.FetchBinding: 0}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newBindingEnv(t, tc.edits...)
			if tc.polls >= 0 {
				s.broker.Async(osbtest.Bind, tc.polls)
			}
			recorded := s.recordBinding("reader")
			b := s.bound()
			secret := s.secretOf(b)
			if tc.keys == nil {
				s.agrees(b)
			} else {
				assert.Equal(t, tc.keys, texts(secret.Data))
				ready, _ := api.FindCondition(b.Status.Conditions, api.ConditionReady)
				assert.Equal(t, len(tc.keys) == 0, ready.Message == "the Secret is empty: the broker gave no credentials", ready.Message)
			}
			for _, version := range recorded.until(s.testEnv, b) {
				if version.Status.Binding != nil {
					assert.Less(t, revision(t, secret.ResourceVersion), revision(t, version.ResourceVersion))
				}
			}
			for verb, times := range tc.verbs {
				assert.Len(t, s.broker.Calls(osbtest.Of(verb)), times, verb)
			}
			s.unbound(b)
		})
	}
}

// revision is a resource version as the number that it is to etcd.
func revision(t *testing.T, version string) int {
	t.Helper()
	number, err := strconv.Atoi(version)
	require.NoError(t, err)
	return number
}

// A namespace that may have no more Secrets: nothing is left at the broker, until there
// may be one.
func TestSecretBeyondQuota(t *testing.T) {
	t.Parallel()
	s := newBindingEnv(t, func(s *setting) { s.except = []string{"M10"} })
	quota := &corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Namespace: s.Namespace, Name: "none"}}
	quota.Spec.Hard = corev1.ResourceList{"count/secrets": resource.MustParse("0")}
	s.Create(quota)
	s.Eventually(func() (bool, error) {
		s.Get(quota)
		return len(quota.Status.Hard) > 0, nil
	})
	b := s.reader()
	s.Create(b)
	said := s.waits(b, "ErrorInjectingBindResult")
	assert.Contains(t, said.Message, "quota")
	s.called(osbtest.Unbind, 1)
	assert.Empty(t, s.broker.Bindings())
	assert.Equal(t, api.UnbindSucceeded, b.Status.UnbindStatus)
	s.Change(b, func() { b.Labels = map[string]string{"look": "again"} }) // another pass
	s.waits(b, "ErrorInjectingBindResult")
	assert.Len(t, s.broker.Calls(osbtest.Of(osbtest.Bind)), 1, "credentials that could not be kept are not asked for again")
	s.Delete(quota)
	s.Ready(b)
	s.agrees(b)
	assert.NotEqual(t, b.Spec.ExternalID, b.Status.ExternalID)
	s.unbound(b)
	s.end(s.instance)
}

// A Secret of that name that belongs to a user is not touched, and nothing is
// bound until it is away.
func TestSecretOfSomebodyElse(t *testing.T) {
	t.Parallel()
	s := newBindingEnv(t)
	foreign := s.Secret("reader")
	foreign.Data = map[string][]byte{"mine": []byte("own")}
	s.Create(foreign)
	b := s.reader()
	s.Create(b)
	said := s.waits(b, "ErrorInjectingBindResult")
	assert.Contains(t, said.Message, `"reader"`)
	assert.Empty(t, s.broker.Calls(osbtest.Of(osbtest.Bind)), "credentials that cannot be kept are not asked for")

	s.Delete(b)
	s.Gone(b)
	s.untouched(foreign)
	b = s.reader()
	s.Create(b)
	s.waits(b, "ErrorInjectingBindResult")
	s.untouched(foreign)
	s.Delete(foreign)
	s.Ready(b)
	s.agrees(b)
	s.unbound(b)
}

// untouched asserts that a Secret is as it was when it was read.
func (e *testEnv) untouched(secret *corev1.Secret) {
	e.Helper()
	was := secret.DeepCopy()
	e.Get(secret)
	assert.Equal(e, was.ResourceVersion, secret.ResourceVersion)
	assert.Nil(e, secret.DeletionTimestamp)
}

// A Secret that a user takes over is the user's: it is not named any more, and it
// survives the binding.
func TestSecretThatIsTakenOver(t *testing.T) {
	t.Parallel()
	s := newBindingEnv(t)
	b := s.bound()
	secret := s.secretOf(b)
	owners := secret.OwnerReferences
	s.Change(secret, func() { secret.OwnerReferences = nil })
	s.waits(b, "ErrorInjectingBindResult")
	assert.Nil(t, b.Status.Binding, "what is in it is not what the broker gave, for all we know")
	s.untouched(secret)

	s.Change(secret, func() { secret.OwnerReferences = owners })
	s.Ready(b)
	s.secretOf(b)
	assert.Len(t, s.broker.Calls(osbtest.Of(osbtest.Bind)), 1, "nothing was lost")

	s.Change(secret, func() { secret.OwnerReferences = nil })
	s.waits(b, "ErrorInjectingBindResult")
	s.Delete(b)
	s.Gone(b)
	s.untouched(secret)
	assert.Empty(t, s.broker.Bindings())
}

// A Secret that was deleted is made again, by what the broker allows.
func TestSecretThatIsDeleted(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason string
		edits  []func(*setting)
		verbs  map[osbtest.Verb]int
		fresh  bool
	}{
		"Fetched":      {reason: "the broker gives them again", edits: []func(*setting){fetchable}, verbs: map[osbtest.Verb]int{osbtest.Bind: 1, osbtest.FetchBinding: 1, osbtest.Unbind: 0}},
		"AskedFor":     {reason: "the same request is answered the same", verbs: map[osbtest.Verb]int{osbtest.Bind: 2, osbtest.FetchBinding: 0, osbtest.Unbind: 0}},
		"FetchedNone":  {reason: "given once: another binding takes its place", edits: []func(*setting){fetchable, oneShot}, verbs: map[osbtest.Verb]int{osbtest.Bind: 2, osbtest.FetchBinding: 1, osbtest.Unbind: 1}, fresh: true},
		"AskedForNone": {reason: "given once: another binding takes its place", edits: []func(*setting){oneShot}, verbs: map[osbtest.Verb]int{osbtest.Bind: 3, osbtest.FetchBinding: 0, osbtest.Unbind: 1}, fresh: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newBindingEnv(t, tc.edits...)
			b := s.bound()
			lost := s.secretOf(b)
			if tc.fresh {
				s.broker.Excuse(b.Status.ExternalID)
			}
			s.Delete(lost)
			s.Eventually(func() (bool, error) {
				again := s.Secret("reader")
				return !s.Absent(again) && again.UID != lost.UID, nil
			})
			s.Ready(b)
			s.agrees(b)
			assert.Equal(t, tc.fresh, b.Status.ExternalID != b.Spec.ExternalID)
			assert.Equal(t, tc.fresh, !bytes.Equal(lost.Data["password"], s.secretOf(b).Data["password"]))
			for verb, times := range tc.verbs {
				assert.Len(t, s.broker.Calls(osbtest.Of(verb)), times, verb)
			}
			s.unbound(b)
		})
	}
}

// The Secret of a binding has the type that was decided for the binding, whatever the type of its plan
// is called since: a restored one has it, too.
func TestSecretKeepsItsType(t *testing.T) {
	t.Parallel()
	s := newInUseEnv(t)
	want := corev1.SecretType("servicebinding.io/" + s.typ)
	b := s.Binding("reader", "mydb")
	s.Create(b)
	s.Ready(b)
	secret := s.secretOf(b)
	require.Equal(t, want, secret.Type)
	s.Svcat("set", "plan", "--kube-name", s.plan.Name, "--type", s.Name("renamed"), "--cluster")
	s.Change(b, func() { b.Spec.Rotation = &api.Rotation{Requests: 1} })
	s.Ready(b)
	rotated := s.secretOf(b)
	assert.Equal(t, want, rotated.Type)
	assert.Equal(t, secret.UID, rotated.UID)

	s.Delete(rotated)
	s.Eventually(func() (bool, error) {
		again := s.Secret("reader")
		return !s.Absent(again) && again.UID != rotated.UID, nil
	})
	s.Ready(b)
	assert.Equal(t, want, s.secretOf(b).Type)
}
