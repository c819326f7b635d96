package offline_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/webhook/offline"
)

func (w *world) plansOfClass(cluster *offline.Cluster) []string {
	w.Helper()
	var list v1beta1.ClusterServicePlanList
	require.NoError(w, cluster.Cache().List(w.Context(), &list, client.MatchingFields{v1beta1.FieldClusterServiceClassRefName: "db"}))
	var names []string
	for i := range list.Items {
		names = append(names, list.Items[i].Name)
	}
	return names
}

func (w *world) remove(cluster *offline.Cluster, kind, namespace, name string) offline.Result {
	w.Helper()
	named := &unstructured.Unstructured{}
	named.SetGroupVersionKind(v1beta1.GroupVersion.WithKind(kind))
	named.SetNamespace(namespace)
	named.SetName(name)
	result, err := cluster.Delete(w.Context(), offline.Request{Object: named, User: offline.Admin()})
	require.NoError(w, err)
	return result
}

// A clone has the same objects, indexes and policies, and what is written to one is not in
// the other.
func TestClone(t *testing.T) {
	t.Parallel()
	w := newWorld(t, shop)
	assert.Equal(t, []string{"large", "small"}, w.plansOfClass(w.Cluster), "the index is made before the clone")
	copied := w.Clone()
	w.remove(copied, "ClusterServicePlan", "", "large")
	w.load(`{kind: ClusterServicePlan, metadata: {name: huge}, spec: {externalName: huge, externalID: huge, clusterServiceClassRef: {name: db}}}`)
	w.load(`{kind: ProvisioningPolicy, metadata: {name: none}, spec: {action: Deny, subjects: [{className: mysql}]}}`)
	assert.Equal(t, []string{"small"}, w.plansOfClass(copied))
	assert.Equal(t, []string{"huge", "large", "small"}, w.plansOfClass(w.Cluster))

	instance := read(t, `{kind: ServiceInstance, metadata: {name: a}, spec: {serviceType: mysql}}`)[0]
	result, err := copied.Apply(t.Context(), instance)
	require.NoError(t, err)
	assert.Nil(t, result.Denied)
	assert.NotNil(t, w.apply(`{kind: ServiceInstance, metadata: {name: a}, spec: {serviceType: mysql}}`).Denied, "the policy is the original's")
	w.remove(w.Cluster, "ProvisioningPolicy", "", "none")
	assert.Nil(t, w.apply(`{kind: ServiceInstance, metadata: {name: a}, spec: {serviceType: mysql}}`).Denied)

	const named = `{kind: ServiceInstance, metadata: {generateName: a-}, spec: {serviceType: mysql}}`
	first := w.admitted(named)
	other := &world{t, w.Clone()}
	assert.NotEqual(t, first.GetName(), other.admitted(named).GetName(), "the name of another object is taken")
}

// The policies of a clone are its own: what is deleted, changed or loaded there holds in the
// original as before, and the other way round.
func TestClonePolicies(t *testing.T) {
	t.Parallel()
	const (
		instance = `{kind: ServiceInstance, metadata: {name: a}, spec: {serviceType: mysql}}`
		deny     = `{kind: ProvisioningPolicy, metadata: {name: p}, spec: {action: Deny, subjects: [{className: mysql}]}}`
		allow    = `{kind: ProvisioningPolicy, metadata: {name: p}, spec: {action: Deny, subjects: [{className: other}]}}`
		broken   = `{kind: ProvisioningPolicy, metadata: {name: p}, spec: {action: Deny, subjects: [{planSelector: {matchExpressions: [{key: a, operator: Near}]}}]}}`
	)
	cases := map[string]struct {
		reason        string
		stored        string
		change        func(w *world)
		changed, idle bool
	}{
		"Deleted":  {reason: "It is deleted in one.", stored: deny, change: func(w *world) { w.remove(w.Cluster, "ProvisioningPolicy", "", "p") }},
		"Changed":  {reason: "It is about another class in one.", stored: deny, change: func(w *world) { w.load(allow) }},
		"Stricter": {reason: "It is about this class in one.", stored: allow, changed: true, change: func(w *world) { w.load(deny) }},
		"Broken":   {reason: "It has no effect in one, which is told there.", stored: deny, idle: true, change: func(w *world) { w.load(broken) }},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, original := range []bool{true, false} {
				w := newWorld(t, shop)
				w.load(tc.stored)
				changed, other := w, &world{t, w.Clone()}
				if !original {
					changed, other = other, changed
				}
				tc.change(changed)
				assert.Equal(t, tc.changed, changed.apply(instance).Denied != nil, tc.reason)
				assert.Equal(t, !tc.changed, other.apply(instance).Denied != nil, tc.reason)
				assert.Equal(t, tc.idle, len(changed.Idle()) > 0, tc.reason)
				assert.Empty(t, other.Idle(), tc.reason)
			}
		})
	}
}

// What is restored is as it was stored, and another cluster that restores it is the same.
func TestRestore(t *testing.T) {
	t.Parallel()
	w := newWorld(t, shop)
	w.admitted(`{kind: ServiceInstance, metadata: {name: a}, spec: {serviceType: mysql, parameters: {n: 1.0, m: 12345678901234}}}`)
	other := newWorld(t, shop)
	for _, object := range w.Objects() {
		raw, err := object.MarshalJSON()
		require.NoError(t, err)
		require.NoError(t, other.Restore(raw))
	}
	assert.Equal(t, w.Objects(), other.Objects())
	for name, raw := range map[string]string{
		"NoJSON": `{"apiVersion"`, "List": `[]`, "Foreign": `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"a","resourceVersion":"1"}}`,
		"NeverStored": `{"apiVersion":"servicecatalog.k8s.io/v1beta1","kind":"ServiceInstance","metadata":{"name":"a"}}`,
		"WrongType":   `{"apiVersion":"servicecatalog.k8s.io/v1beta1","kind":"ServiceInstance","metadata":{"name":"a","resourceVersion":"1"},"spec":{"parameters":{"s3cret":1},"serviceType":["s3cret"]}}`,
	} {
		err := other.Restore([]byte(raw))
		require.Error(t, err, name)
		assert.NotContains(t, err.Error(), "s3cret")
	}
}

// A resourceVersion from which the store cannot count on is refused: a file may have any.
func TestRestoreBoundsRevisions(t *testing.T) {
	t.Parallel()
	for version, want := range map[string]string{
		"4611686018427387904": "", "0": "",
		"4611686018427387905": `cannot read Namespace "a": metadata.resourceVersion is "4611686018427387905"; allowed are whole numbers from 0 to 4611686018427387904`,
		"9223372036854775807": `cannot read Namespace "a": metadata.resourceVersion is "9223372036854775807"; allowed are whole numbers from 0 to 4611686018427387904`,
		"-1":                  `cannot read Namespace "a": metadata.resourceVersion is "-1"; allowed are whole numbers from 0 to 4611686018427387904`,
		"":                    `cannot read Namespace "a": metadata.resourceVersion is ""; allowed are whole numbers from 0 to 4611686018427387904`,
	} {
		err := newWorld(t, shop).Restore(fmt.Appendf(nil, `{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"a","resourceVersion":%q}}`, version))
		if want == "" {
			require.NoError(t, err, version)
			continue
		}
		require.EqualError(t, err, want)
	}
	err := newWorld(t, shop).Restore(fmt.Appendf(nil, `{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"a","resourceVersion":%q}}`, strings.Repeat("9", 1<<20)))
	require.Error(t, err)
	assert.Less(t, len(err.Error()), 300, "the value is cut")
}

// The shipped policy guards what is annotated against deletion, and nothing else.
func TestDeletionIsGuarded(t *testing.T) {
	t.Parallel()
	w := newWorld(t, shop)
	for name, value := range map[string]string{"guarded": "true", "free": "false"} {
		w.admitted(fmt.Sprintf(`{kind: ServiceInstance, metadata: {name: %s, annotations: {servicecatalog.kubernetes.io/prevent-deletion: "%s"}}, spec: {serviceType: mysql}}`, name, value))
	}
	denied := w.remove(w.Cluster, "ServiceInstance", "default", "guarded").Denied
	require.NotNil(t, denied)
	assert.Contains(t, denied.Error(), "ValidatingAdmissionPolicy 'deletion.servicecatalog.k8s.io' with binding 'deletion.servicecatalog.k8s.io' denied request: the annotation")
	assert.Contains(t, denied.Error(), "kubectl annotate serviceinstances guarded -n default servicecatalog.kubernetes.io/prevent-deletion-")
	deleted := w.remove(w.Cluster, "ServiceInstance", "default", "free")
	assert.Nil(t, deleted.Denied)
	assert.NotEmpty(t, deleted.Object.GetFinalizers(), "its broker is asked first")
}

// A field that another version stored is pruned when it is read, as the API server does; one
// that is sent is refused.
func TestUnknownFields(t *testing.T) {
	t.Parallel()
	w := newWorld(t, shop)
	w.admitted(`{kind: ServiceInstance, metadata: {name: a, namespace: dev}, spec: {serviceType: mysql}}`)
	at := client.ObjectKey{Namespace: "dev", Name: "a"}
	_, newer, err := w.Stored(v1beta1.GroupVersion.WithKind("ServiceInstance"), at)
	require.NoError(t, err)
	require.NoError(t, unstructured.SetNestedField(newer.Object, "x", "status", "newer"))
	raw, err := newer.MarshalJSON()
	require.NoError(t, err)
	require.NoError(t, w.Restore(raw))

	_, edited, err := w.Stored(v1beta1.GroupVersion.WithKind("ServiceInstance"), at)
	require.NoError(t, err)
	require.NoError(t, unstructured.SetNestedField(edited.Object, int64(1), "spec", "updateRequests"))
	result, err := w.Update(t.Context(), offline.Request{Object: edited, User: offline.Admin(), DryRun: true})
	require.NoError(t, err)
	assert.Nil(t, result.Denied)
	require.NoError(t, unstructured.SetNestedField(edited.Object, "x", "spec", "newer"))
	result, err = w.Update(t.Context(), offline.Request{Object: edited, User: offline.Admin(), DryRun: true})
	require.NoError(t, err)
	require.NotNil(t, result.Denied)
	assert.Contains(t, result.Denied.Error(), `unknown field "spec.newer"`)
	assert.NotContains(t, result.Denied.Error(), "status.newer")
}
