package moving_test

import (
	"strings"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/e2e/env"
	"github.com/defaultplan/defaultplan/osb/osbtest"
)

type ownerReference = metav1.OwnerReference

// releasing are the arguments of svcat export --release, which runs on the old side.
func (h *house) releasing(file string, more ...string) []string {
	return append([]string{"export", "--release", file, "--to-kubeconfig", h.Kubeconfig(), "--identity", h.file("identity")}, more...)
}

// released has the old side let go of what moved, and of nothing else; the new side then owns
// what the old side did.
func (h *house) released(file string) {
	h.Helper()
	before, secrets := h.everything(h.old), h.secrets(h.old)
	got := h.run(h.old, h.releasing(file, "--dry-run")...)
	assert.Equal(h, before, h.everything(h.old), "--dry-run writes nothing: %s%s", got.Stdout, got.Stderr)

	got = h.run(h.old, h.releasing(file)...)
	assert.Equal(h, 1, got.Code, "some of it stays: %s%s", got.Stdout, got.Stderr)
	for name, expected := range h.expected() {
		_, is := h.find(h.old, name)
		assert.Equal(h, expected.stays, is, "%v: %s", name, got.Stdout)
	}
	assert.Equal(h, secrets, h.secrets(h.old), "the applications of the old side keep their Secrets")
	for _, b := range h.bindings {
		if b.moved != "" {
			assert.Empty(h, h.old.ReadSecret(b.name).OwnerReferences, "the garbage collector leaves that of %s", b.name)
		}
	}
	h.owns()

	again := h.run(h.old, h.releasing(file)...)
	assert.Equal(h, got.Code, again.Code, "there is nothing more to do: %s%s", again.Stdout, again.Stderr)
}

// owns asserts that the new side removes at the broker what the old side would have removed.
func (h *house) owns() {
	h.Helper()
	for name, expected := range h.expected() {
		if stored, is := h.find(h.Env, name); is {
			assert.Equal(h, expected.owned, stored.GetAnnotations()[api.AnnotationDeprovisionAdopted] == "true", "%v: %v", name, stored.GetAnnotations())
		}
	}
}

// goesOn changes what moved, binds to it, and removes all of it.
func (h *house) goesOn() {
	h.Helper()
	orders := h.Stored("orders")
	h.Change(orders, func() { orders.Spec.Parameters = env.RawJSON(`{"note":"another"}`) })
	h.Ready(orders)
	assert.Equal(h, "another", h.cluster.Instances()[h.instanceID("orders")].Parameters["note"], "an update reaches the broker")
	reader, binds := h.Binding("new-reader", "plain"), len(h.cluster.Calls(osbtest.Of(osbtest.Bind)))
	h.Create(reader)
	h.Ready(reader)
	assert.Len(h, h.cluster.Calls(osbtest.Of(osbtest.Bind)), binds+1, "a bind reaches the broker")
	h.remove(reader)
	for _, b := range h.bindings {
		if b.moved != "" {
			h.remove(h.StoredBinding(b.name))
		}
	}
	for _, i := range h.instances {
		if i.moved != "" && !i.bound {
			h.remove(h.Stored(i.name))
		}
	}
	h.reached()
}

func (h *house) remove(object client.Object) {
	h.Helper()
	h.Delete(object)
	h.Gone(object)
}

// reached asserts that each call after the move reached its broker. What the old side had
// adopted stays there, as it would have on the old side.
func (h *house) reached() {
	h.Helper()
	calls := strings.Join(h.written(), "\n")
	assert.Contains(h, calls, "update "+h.instanceID("orders"))
	for _, b := range h.bindings {
		if b.moved != "" {
			assert.Contains(h, calls, "unbind "+h.instanceID(b.instance)+" "+h.bindingID(b.name))
		}
	}
	for _, id := range []string{"orders", "plain", "local"} {
		assert.Contains(h, calls, "deprovision "+h.instanceID(id))
	}
	assert.NotContains(h, calls, "deprovision "+h.instanceID("kept"))
	require.Contains(h, h.cluster.Instances(), h.instanceID("kept"))
}
