package moving_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/e2e/env"
	"github.com/defaultplan/defaultplan/osb/osbtest"
)

// TestReleaseOfARunningSide: a controller that runs there would see the deletions. The test is
// not parallel: the others share the old side.
func TestReleaseOfARunningSide(t *testing.T) {
	h := newHouse(t, someInstances[:1], someBindings[:1])
	file := h.exported()
	h.runs(h.Env, h.importing(file)...)
	labels := map[string]string{"app": "catalog-catalog-controller-manager"}
	manager := &appsv1.Deployment{ObjectMeta: h.old.Meta("catalog-catalog-controller-manager"), Spec: appsv1.DeploymentSpec{
		Replicas: new(int32(1)), Selector: &metav1.LabelSelector{MatchLabels: labels},
		Template: corev1.PodTemplateSpec{
			ObjectMeta: metav1.ObjectMeta{Labels: labels},
			Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "controller-manager", Image: "quay.io/kubernetes-service-catalog/service-catalog:v0.3.1", Args: []string{"controller-manager"}}}},
		},
	}}
	h.old.Create(manager)
	before := h.everything(h.old)
	got := h.run(h.old, h.releasing(file)...)
	assert.NotZero(t, got.Code)
	assert.Contains(t, got.Stderr, "catalog-catalog-controller-manager", "it says what runs")
	assert.Equal(t, before, h.everything(h.old))
	h.old.Change(manager, func() { manager.Spec.Replicas = new(int32(0)) })
	h.runs(h.old, h.releasing(file)...)
	h.ends()
}

// TestReleaseOnlyWhatIsReady lets go of nothing that the new side does not have, or does not have
// Ready, and of nothing that was edited since the export.
func TestReleaseOnlyWhatIsReady(t *testing.T) {
	t.Parallel()
	h := newHouse(t, someInstances, someBindings)
	file := h.exported()
	before := h.everything(h.old)
	got := h.run(h.old, h.releasing(file)...)
	assert.NotZero(t, got.Code, "nothing was imported: %s", got.Stdout)
	assert.Equal(t, before, h.everything(h.old))

	h.runs(h.Env, h.importing(file)...)
	h.untouched()
	h.TakeAway(h.StoredBinding("local-reader"))
	edited, _ := h.find(h.old, objectName{"ServiceInstance", "plain"})
	h.old.Patch(edited, `{"spec":{"parameters":{"size":3}}}`)
	h.cluster.Async(osbtest.Update, -1)
	orders := h.Stored("orders")
	h.Change(orders, func() { orders.Spec.Parameters = env.RawJSON(`{"size":2}`) })
	h.HasCondition(orders, api.ConditionReady, api.ConditionUnknown, "UpdatingInstance")
	got = h.run(h.old, h.releasing(file)...)
	assert.Equal(t, 1, got.Code, "%s%s", got.Stdout, got.Stderr)
	stays := map[string]string{
		"ServiceBinding local-reader":  "the new side has it no more",
		"ServiceInstance local":        "a binding that stays uses it",
		"ServiceInstance plain":        "it was edited since",
		"ServiceInstance orders":       "the new side works on it",
		"ServiceBinding orders-reader": "",
		"ServiceBinding plain-renamed": "",
	}
	h.left(stays)

	h.Eventually(func() (bool, error) { return h.cluster.Finish(h.instanceID("orders")), nil })
	h.Ready(orders)
	got = h.run(h.old, h.releasing(file)...)
	assert.Equal(t, 1, got.Code, "%s%s", got.Stdout, got.Stderr)
	stays["ServiceInstance orders"] = ""
	h.left(stays)
	assert.ElementsMatch(t, append(h.before, "update "+h.instanceID("orders")), h.written(), "nothing but the edit reached a broker")
}

// left asserts what the old side has: each object with a reason, and none without.
func (h *house) left(reasons map[string]string) {
	h.Helper()
	for name, reason := range reasons {
		kind, name, _ := strings.Cut(name, " ")
		_, is := h.find(h.old, objectName{kind, name})
		assert.Equal(h, reason != "", is, "%s %s: %s", kind, name, reason)
	}
}

// TestImportOfAnotherCatalog: the broker offers one of the classes no more. What is of that class
// stays, and is not made in another way. A plan that has another name is the same by its ID.
func TestImportOfAnotherCatalog(t *testing.T) {
	t.Parallel()
	h := newHouse(t, []instance{
		someInstances[0],
		{name: "plain", class: "shut", state: "Ready", why: "plan"},
	}, []binding{
		someBindings[0],
		{name: "plain-renamed", instance: "plain", state: "Ready", renamed: true, why: "plain"},
	})
	credentials, file := h.secrets(h.old), h.exported()
	require.NoError(t, h.cluster.SetCatalog(bytes.Replace(h.catalog("open"), []byte(`"name":"small"`), []byte(`"name":"tiny"`), 1)))
	got := h.run(h.Env, h.importing(file)...)
	assert.Equal(t, 1, got.Code, "%s%s", got.Stdout, got.Stderr)
	h.tells(got.Stdout, "moved")
	assert.Contains(t, h.rows(got.Stdout)[objectName{"ClusterServicePlan", h.Name("open-small")}].Reason, "tiny")
	assert.Equal(t, "tiny", h.Stored("orders").Spec.ClusterServicePlanExternalName)
	h.lives(credentials)
	h.untouched()
}

// TestImportBesideOthers: the broker is registered already under another name, and is used. Names
// that are taken are conflicts, and what has them is not changed.
func TestImportBesideOthers(t *testing.T) {
	t.Parallel()
	h := newHouse(t, []instance{
		someInstances[0],
		{name: "plain", class: "shut", state: "Ready", why: "conflict"},
	}, nil)
	file := h.exported()
	h.Create(&corev1.Secret{ObjectMeta: h.Meta("password"), StringData: map[string]string{"username": username, "password": password}})
	broker := h.ClusterBroker(h.cluster.URL, func(b *api.ClusterServiceBroker) {
		b.Name = h.Name("another")
		b.Spec.AuthInfo = &api.ClusterServiceBrokerAuthInfo{Basic: &api.ClusterBasicAuthConfig{SecretRef: &api.ObjectReference{Namespace: h.Namespace, Name: "password"}}}
	})
	h.Create(broker)
	h.Ready(broker)
	taken := h.CreateInstance("plain", env.OfPlan(h.Name("open"), "large"))
	h.Ready(taken)
	h.before = h.written()

	got := h.run(h.Env, h.importing(file)...)
	assert.Equal(t, 1, got.Code, "%s%s", got.Stdout, got.Stderr)
	version := taken.ResourceVersion
	h.Get(taken)
	assert.Equal(t, version, taken.ResourceVersion, "it is left alone")
	stored, _ := h.find(h.Env, objectName{"ServiceInstance", "orders"})
	assert.Equal(t, "True Adopted", readyOf(stored), got.Stdout)
	assert.True(t, h.Absent(&api.ClusterServiceBroker{ObjectMeta: metav1.ObjectMeta{Name: h.Name("broker")}}), "one broker is enough")
	assert.Equal(t, h.before, h.written())
}
