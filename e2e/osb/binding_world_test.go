package osb_test

import (
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

// A bindingStage is a stage with an instance that is Ready, mydb, to be bound to.
type bindingStage struct {
	*stage

	instance *api.ServiceInstance
}

func newBindingStage(t *testing.T, edits ...func(*setting)) *bindingStage {
	t.Helper()
	s := &bindingStage{stage: newStage(t, edits...)}
	s.instance = s.provisioned()
	return s
}

// in is the stage for a subtest.
func (s *bindingStage) in(t *testing.T) *bindingStage {
	t.Helper()
	theirs, w := *s.stage, *s.world
	w.T, theirs.world = t, &w
	return &bindingStage{stage: &theirs, instance: s.instance}
}

// fetchable has the credentials of a binding be asked for again.
func fetchable(s *setting) { s.service["bindings_retrievable"] = true }

// oneShot has the broker give credentials once only.
func oneShot(s *setting) { s.OneShot = true }

// giving has the broker give the same credentials with every binding.
func giving(credentials object) func(*setting) {
	return func(s *setting) { s.Credentials = func(osbtest.Binding) map[string]any { return credentials } }
}

// reader is a binding to mydb, not yet created.
func (s *bindingStage) reader(edits ...func(*api.ServiceBinding)) *api.ServiceBinding {
	b := s.binding("reader", "mydb")
	for _, edit := range edits {
		edit(b)
	}
	return b
}

// bound is a binding to mydb that is Ready.
func (s *bindingStage) bound(edits ...func(*api.ServiceBinding)) *api.ServiceBinding {
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

// bindingBecomes waits until a binding is as asked for.
func (w *world) bindingBecomes(b *api.ServiceBinding, is func() bool) {
	w.Helper()
	w.Eventually(func() (bool, error) {
		if err := w.client.Get(w.Context(), client.ObjectKeyFromObject(b), b); err != nil {
			return true, err
		}
		return is(), nil
	})
}

// secretOf is the Secret of a binding that is Ready, which must be its own and named by
// its status.
func (w *world) secretOf(b *api.ServiceBinding) *corev1.Secret {
	w.Helper()
	require.NotNil(w, b.Status.Binding)
	secret := w.secret(b.Status.Binding.Name)
	w.Get(secret)
	assert.True(w, metav1.IsControlledBy(secret, b))
	assert.Equal(w, api.ManagedByController, secret.Labels[api.LabelManagedBy])
	return secret
}

// onlyBinding is the one that the broker has.
func (s *stage) onlyBinding() osbtest.Binding {
	s.Helper()
	bindings := s.broker.Bindings()
	require.Len(s, bindings, 1)
	for _, binding := range bindings {
		return binding
	}
	return osbtest.Binding{}
}

// unbound deletes a binding, of which nothing stays: neither at the broker, nor here.
func (s *bindingStage) unbound(b *api.ServiceBinding) {
	s.Helper()
	secret := s.secret(orElse(b.Spec.SecretName, b.Name))
	s.Delete(b)
	s.Gone(b)
	s.Gone(secret)
	assert.Empty(s, s.broker.Bindings())
}

// bindingStalled waits until a binding is Failed for a reason, and says so to kstatus.
func (w *world) bindingStalled(b *api.ServiceBinding, reason string) {
	w.Helper()
	w.HasCondition(b, api.ConditionFailed, api.ConditionTrue, reason)
	w.HasCondition(b, api.ConditionStalled, api.ConditionTrue, reason)
	w.HasCondition(b, api.ConditionReady, api.ConditionFalse, reason)
	assert.Nil(w, b.Status.Binding, "there is no Secret to be found")
}

// waits waits until a binding says that it waits, and why. It is not an end: nothing is
// Failed or Stalled.
func (w *world) waits(b *api.ServiceBinding, reason string) api.Condition {
	w.Helper()
	found := w.HasCondition(b, api.ConditionReady, api.ConditionUnknown, reason)
	for _, typ := range []string{api.ConditionFailed, api.ConditionStalled} {
		_, has := api.FindCondition(b.Status.Conditions, typ)
		assert.False(w, has, typ)
	}
	return found
}

// A bindingRecording is every version of one binding that the API server stored.
type bindingRecording struct {
	mutex    sync.Mutex
	versions []api.ServiceBinding
}

// recordBinding watches a binding of the world until the test ends.
func (w *world) recordBinding(name string) *bindingRecording {
	w.Helper()
	watcher, err := w.client.Watch(w.Context(), &api.ServiceBindingList{}, client.InNamespace(w.namespace), client.MatchingFields{"metadata.name": name})
	require.NoError(w, err)
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
	w.Cleanup(func() {
		watcher.Stop()
		<-done
	})
	return r
}

func (r *bindingRecording) count() int {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	return len(r.versions)
}

// until are the versions up to that of a binding, which it waits for.
func (r *bindingRecording) until(w *world, b *api.ServiceBinding) []api.ServiceBinding {
	w.Helper()
	var found []api.ServiceBinding
	w.Eventually(func() (bool, error) {
		r.mutex.Lock()
		defer r.mutex.Unlock()
		at := slices.IndexFunc(r.versions, func(v api.ServiceBinding) bool { return v.ResourceVersion == b.ResourceVersion })
		found = slices.Clone(r.versions[:at+1])
		return at >= 0, nil
	})
	return found
}

// told is what the condition Ready said, up to a version, without repetitions: "False
// BindCallFailed".
func (r *bindingRecording) told(w *world, b *api.ServiceBinding) []string {
	w.Helper()
	var all []string
	for _, version := range r.until(w, b) {
		if c, ok := api.FindCondition(version.Status.Conditions, api.ConditionReady); ok {
			all = append(all, string(c.Status)+" "+c.Reason)
		}
	}
	return slices.Compact(all)
}
