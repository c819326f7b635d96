package osb_test

import (
	"cmp"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/osb/osbtest"
)

// A bindingEnv is a brokerEnv with an instance that is Ready, mydb, to be bound to.
type bindingEnv struct {
	*brokerEnv

	instance *api.ServiceInstance
}

func newBindingEnv(t *testing.T, edits ...func(*setting)) *bindingEnv {
	t.Helper()
	s := &bindingEnv{brokerEnv: newBrokerEnv(t, edits...)}
	s.instance = s.provisioned()
	return s
}

// in is the environment for a subtest.
func (s *bindingEnv) in(t *testing.T) *bindingEnv {
	t.Helper()
	theirs := *s.brokerEnv
	theirs.testEnv = &testEnv{s.In(t)}
	return &bindingEnv{brokerEnv: &theirs, instance: s.instance}
}

// fetchable has the credentials of a binding be asked for again.
func fetchable(s *setting) { s.service["bindings_retrievable"] = true }

// oneShot has the broker give credentials once only.
func oneShot(s *setting) { s.OneShot = true }

// draining has the broker give what is no credential, and drained are its keys in the Secret.
func draining(s *setting) {
	s.Beside = object{"syslog_drain_url": "syslog://logs.example.com", "volume_mounts": []object{{"driver": "nfs"}}}
}

var drained = map[string]string{"syslog_drain_url": "syslog://logs.example.com", "volume_mounts": `[{"driver":"nfs"}]`}

// texts are the values of a Secret.
func texts(data map[string][]byte) map[string]string {
	has := map[string]string{}
	for key, value := range data {
		has[key] = string(value)
	}
	return has
}

// giving has the broker give the same credentials with every binding.
func giving(credentials object) func(*setting) {
	return func(s *setting) { s.Credentials = func(osbtest.Binding) map[string]any { return credentials } }
}

// reader is a binding to mydb, not yet created.
func (s *bindingEnv) reader(edits ...func(*api.ServiceBinding)) *api.ServiceBinding {
	b := s.Binding("reader", "mydb")
	for _, edit := range edits {
		edit(b)
	}
	return b
}

// bound is a binding to mydb that is Ready.
func (s *bindingEnv) bound(edits ...func(*api.ServiceBinding)) *api.ServiceBinding {
	s.Helper()
	b := s.reader(edits...)
	s.Create(b)
	s.Ready(b)
	return b
}

// transformed gives a binding transforms.
func transformed(transforms ...api.SecretTransform) func(*api.ServiceBinding) {
	return func(b *api.ServiceBinding) { b.Spec.SecretTransforms = transforms }
}

// secretOf is the Secret of a binding that is Ready, which must be its own and named by
// its status.
func (e *testEnv) secretOf(b *api.ServiceBinding) *corev1.Secret {
	e.Helper()
	require.NotNil(e, b.Status.Binding)
	secret := e.Secret(b.Status.Binding.Name)
	e.Get(secret)
	assert.True(e, metav1.IsControlledBy(secret, b))
	assert.Equal(e, api.ManagedByController, secret.Labels[api.LabelManagedBy])
	return secret
}

// onlyBinding is the one that the broker has.
func (s *brokerEnv) onlyBinding() osbtest.Binding {
	s.Helper()
	bindings := s.broker.Bindings()
	require.Len(s, bindings, 1)
	for _, binding := range bindings {
		return binding
	}
	return osbtest.Binding{}
}

// unbound deletes a binding, of which nothing stays: neither at the broker, nor here.
func (s *bindingEnv) unbound(b *api.ServiceBinding) {
	s.Helper()
	secret := s.Secret(cmp.Or(b.Spec.SecretName, b.Name))
	s.Delete(b)
	s.Gone(b)
	s.Gone(secret)
	assert.Empty(s, s.broker.Bindings())
}

// bindingStalled waits until a binding is Failed for a reason, and says so to kstatus.
func (e *testEnv) bindingStalled(b *api.ServiceBinding, reason string) {
	e.Helper()
	e.HasCondition(b, api.ConditionFailed, api.ConditionTrue, reason)
	e.HasCondition(b, api.ConditionStalled, api.ConditionTrue, reason)
	e.HasCondition(b, api.ConditionReady, api.ConditionFalse, reason)
	assert.Nil(e, b.Status.Binding, "there is no Secret to be found")
}

// waits waits until a binding says that it waits, and why. It is not an end: nothing is
// Failed or Stalled.
func (e *testEnv) waits(b *api.ServiceBinding, reason string) api.Condition {
	e.Helper()
	found := e.HasCondition(b, api.ConditionReady, api.ConditionUnknown, reason)
	for _, typ := range []string{api.ConditionFailed, api.ConditionStalled} {
		_, has := api.FindCondition(b.Status.Conditions, typ)
		assert.False(e, has, typ)
	}
	return found
}

// A bindingRecording is every version of one binding that the API server stored.
type bindingRecording struct {
	mutex    sync.Mutex
	versions []api.ServiceBinding
}

// recordBinding watches a binding of the environment until the test ends.
func (e *testEnv) recordBinding(name string) *bindingRecording {
	e.Helper()
	watcher, err := e.Client().Watch(e.Context(), &api.ServiceBindingList{}, client.InNamespace(e.Namespace), client.MatchingFields{"metadata.name": name})
	require.NoError(e, err)
	r := &bindingRecording{}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for event := range watcher.ResultChan() {
			if b, ok := event.Object.(*api.ServiceBinding); ok {
				r.mutex.Lock()
				r.versions = append(r.versions, *b)
				r.mutex.Unlock()
			}
		}
	}()
	e.Cleanup(func() {
		watcher.Stop()
		<-done
	})
	return r
}

func (r *bindingRecording) count() int {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	return len(withoutDelays(r.versions))
}

// until are the versions up to that of a binding, which it waits for.
func (r *bindingRecording) until(e *testEnv, b *api.ServiceBinding) []api.ServiceBinding {
	e.Helper()
	var found []api.ServiceBinding
	e.Eventually(func() (bool, error) {
		r.mutex.Lock()
		defer r.mutex.Unlock()
		at := slices.IndexFunc(r.versions, func(v api.ServiceBinding) bool { return v.ResourceVersion == b.ResourceVersion })
		found = withoutDelays(r.versions[:at+1])
		return at >= 0, nil
	})
	return found
}

// told is what the condition Ready said, up to a version, without repetitions: "False
// BindCallFailed".
func (r *bindingRecording) told(e *testEnv, b *api.ServiceBinding) []string {
	e.Helper()
	var all []string
	for _, version := range r.until(e, b) {
		if c, ok := api.FindCondition(version.Status.Conditions, api.ConditionReady); ok {
			all = append(all, string(c.Status)+" "+c.Reason)
		}
	}
	return slices.Compact(all)
}
