package apiclient_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/webhook/offline"
	"github.com/defaultplan/defaultplan/webhook/offline/apiclient"
	"github.com/defaultplan/defaultplan/webhook/options"
)

var began = time.Unix(1_700_000_000, 0).UTC()

// newClient is a client of an empty cluster.
func newClient(t *testing.T) *apiclient.Client {
	t.Helper()
	cluster, err := offline.New(options.New())
	require.NoError(t, err)
	return apiclient.New(cluster, apiclient.Options{
		User: offline.Admin(), Manager: "test", Reader: cluster.Reader(), Scheme: cluster.Scheme(), Clock: clocktesting.NewFakePassiveClock(began),
	})
}

func plan() *v1beta1.ClusterServicePlan {
	made := &v1beta1.ClusterServicePlan{ObjectMeta: metav1.ObjectMeta{Name: "small"}}
	made.Spec.ExternalName, made.Spec.ExternalID, made.Spec.ClusterServiceClassRef.Name = "small", "1", "db"
	return made
}

// Writes go through admission, and an object becomes what is stored.
func TestWrites(t *testing.T) {
	t.Parallel()
	c, ctx := newClient(t), t.Context()
	made := plan()
	require.NoError(t, c.Create(ctx, made))
	assert.NotEmpty(t, made.Labels, "admission adds them")
	assert.EqualValues(t, 1, made.Generation)
	assert.Equal(t, began, made.CreationTimestamp.UTC())
	assert.True(t, apierrors.IsAlreadyExists(c.Create(ctx, plan())))

	stale := made.DeepCopy()
	made.Spec.Description = "d"
	require.NoError(t, c.Update(ctx, made))
	assert.EqualValues(t, 2, made.Generation)
	assert.True(t, apierrors.IsConflict(c.Update(ctx, stale)), "it was written since it was read")

	require.NoError(t, c.Patch(ctx, made, client.RawPatch(types.MergePatchType, []byte(`{"spec":{"description":null},"status":{"removedFromBrokerCatalog":true}}`))))
	assert.Empty(t, made.Spec.Description)
	assert.False(t, made.Status.RemovedFromBrokerCatalog, "a status is written by itself")
	require.NoError(t, c.Status().Patch(ctx, made, client.RawPatch(types.JSONPatchType, []byte(`[{"op":"add","path":"/status","value":{"removedFromBrokerCatalog":true}},{"op":"add","path":"/spec/description","value":"x"}]`))))
	assert.True(t, made.Status.RemovedFromBrokerCatalog)
	assert.Empty(t, made.Spec.Description, "and alone")
	assert.Contains(t, ownersOf(made), "test status", "which is owned apart from the rest")

	require.NoError(t, c.Patch(ctx, plan(), client.RawPatch(types.MergePatchType, []byte(`{"spec":{"description":"dry"}}`)), client.DryRunAll))
	require.NoError(t, c.Get(ctx, client.ObjectKeyFromObject(made), made))
	assert.Empty(t, made.Spec.Description)

	err := c.Create(ctx, &v1beta1.ServiceInstance{ObjectMeta: metav1.ObjectMeta{Namespace: "dev", Name: "a"}, Spec: v1beta1.ServiceInstanceSpec{ServiceType: "none"}})
	assert.True(t, apierrors.IsInvalid(err) || apierrors.IsForbidden(err), "%v", err)
}

// ownersOf are the managers of an object's fields, each with the subresource that it wrote.
func ownersOf(object client.Object) []string {
	var owners []string
	for _, entry := range object.GetManagedFields() {
		owners = append(owners, strings.TrimSpace(entry.Manager+" "+entry.Subresource))
	}
	return owners
}

// Server-side apply owns fields: another manager's stay, unless it is forced.
func TestApply(t *testing.T) {
	t.Parallel()
	c, ctx := newClient(t), t.Context()
	apply := func(manager, fields string, options ...client.PatchOption) error {
		raw, err := yaml.YAMLToJSON([]byte(`{apiVersion: servicecatalog.k8s.io/v1beta1, kind: ClusterServicePlan, metadata: {name: small}, spec: ` + fields + `}`))
		require.NoError(t, err)
		return c.Patch(ctx, plan(), client.RawPatch(types.ApplyPatchType, raw), append(options, client.FieldOwner(manager))...)
	}
	require.NoError(t, apply("one", `{externalName: small, externalID: "1", clusterServiceClassRef: {name: db}, weight: 1, description: d}`))
	assert.True(t, apierrors.IsConflict(apply("two", `{weight: 2}`)))
	require.NoError(t, apply("two", `{weight: 2}`, client.ForceOwnership))
	require.NoError(t, apply("one", `{externalName: small, externalID: "1", clusterServiceClassRef: {name: db}}`))
	found := plan()
	require.NoError(t, c.Get(ctx, client.ObjectKeyFromObject(found), found))
	assert.EqualValues(t, 2, found.Spec.Weight, "it is two's")
	assert.Empty(t, found.Spec.Description, "it was one's, which leaves it out now")
	assert.Len(t, found.ManagedFields, 2)
}

// A manifest is applied as kubectl does: what it applied before and leaves out now is taken away,
// what others wrote stays.
func TestApplyManifest(t *testing.T) {
	t.Parallel()
	c, ctx := newClient(t), t.Context()
	manifest := func(fields string) *unstructured.Unstructured {
		made := &unstructured.Unstructured{}
		require.NoError(t, yaml.Unmarshal([]byte(`{apiVersion: servicecatalog.k8s.io/v1beta1, kind: ClusterServicePlan, metadata: {name: small}, spec: {externalName: small, externalID: "1", clusterServiceClassRef: {name: db}`+fields+`}}`), &made.Object))
		return made
	}
	found := plan()
	require.NoError(t, c.ApplyManifest(ctx, manifest(`, weight: 1, description: d`)))
	require.NoError(t, c.ApplyManifest(ctx, manifest(`, free: true`)))
	require.NoError(t, c.Get(ctx, client.ObjectKeyFromObject(found), found))
	assert.Equal(t, "d", found.Spec.Description, "kubectl did not apply it")

	last, err := manifest(`, weight: 1, free: true`).MarshalJSON()
	require.NoError(t, err)
	found.Annotations = map[string]string{"kubectl.kubernetes.io/last-applied-configuration": string(last)}
	require.NoError(t, c.Update(ctx, found))
	require.NoError(t, c.ApplyManifest(ctx, manifest(`, free: true`)))
	require.NoError(t, c.Get(ctx, client.ObjectKeyFromObject(found), found))
	assert.Zero(t, found.Spec.Weight, "kubectl applied it, and does not now")
	assert.True(t, found.Spec.Free)
	assert.Equal(t, "d", found.Spec.Description)
}

// A deletion is of the version that is named, and with finalizers it only begins.
func TestDelete(t *testing.T) {
	t.Parallel()
	c, ctx := newClient(t), t.Context()
	made := plan()
	made.Finalizers = []string{"a/b"}
	require.NoError(t, c.Create(ctx, made))
	other := types.UID("other")
	assert.True(t, apierrors.IsConflict(c.Delete(ctx, made, client.Preconditions{UID: &other})))
	before := made.ResourceVersion
	require.NoError(t, c.Patch(ctx, made, client.RawPatch(types.MergePatchType, []byte(`{"spec":{"description":"d"}}`))))
	assert.True(t, apierrors.IsConflict(c.Delete(ctx, made, client.Preconditions{ResourceVersion: &before})))
	require.NoError(t, c.Delete(ctx, made, client.DryRunAll))
	require.NoError(t, c.Get(ctx, client.ObjectKeyFromObject(made), made))
	assert.Nil(t, made.DeletionTimestamp, "nothing is deleted yet")
	require.NoError(t, c.Delete(ctx, made, client.Preconditions{ResourceVersion: &made.ResourceVersion}))
	require.NoError(t, c.Get(ctx, client.ObjectKeyFromObject(made), made))
	assert.Equal(t, began, made.DeletionTimestamp.UTC())
	made.Finalizers = nil
	require.NoError(t, c.Update(ctx, made))
	assert.True(t, apierrors.IsNotFound(c.Get(ctx, client.ObjectKeyFromObject(made), made)))
	assert.True(t, apierrors.IsNotFound(c.Delete(ctx, made)))
	assert.True(t, apierrors.IsNotFound(c.Patch(ctx, made, client.RawPatch(types.MergePatchType, []byte(`{}`)))))
}

// What a manifest holds never comes to a log, whatever is wrong with it.
func TestNoValuesInLogs(t *testing.T) { //nolint:paralleltest // klog's output is the process's
	var logged bytes.Buffer
	state := klog.CaptureState()
	t.Cleanup(state.Restore)
	klog.LogToStderr(false)
	klog.SetOutput(&logged)
	manifest := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": v1beta1.GroupVersion.String(), "kind": "ServiceBinding", "metadata": map[string]any{"name": "b", "namespace": "dev"},
		"spec": map[string]any{"instanceRef": map[string]any{"name": "a"}, "secretTransforms": map[string]any{"addKey": map[string]any{"stringValue": "canary"}}},
	}}
	err := newClient(t).ApplyManifest(t.Context(), manifest)
	klog.Flush()
	require.Error(t, err)
	assert.NotContains(t, err.Error(), "canary")
	assert.Empty(t, logged.String())
}
