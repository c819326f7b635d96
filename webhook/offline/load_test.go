package offline_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/webhook/offline"
	"github.com/defaultplan/defaultplan/webhook/options"
)

func splitDocuments(text string) []string {
	return strings.Split(strings.TrimSpace(text), "\n---\n")
}

func TestLoadRefuses(t *testing.T) {
	t.Parallel()
	cases := map[string]struct{ reason, object, words string }{
		"ForeignKind":  {reason: "Only the group's kinds and namespaces are held.", object: `{kind: Deployment, metadata: {name: a}}`, words: `cannot admit Deployment "a": it is of no kind of servicecatalog.k8s.io`},
		"UnknownField": {reason: "A typing error is told, not pruned.", object: `{kind: ClusterServiceType, metadata: {name: a}, spec: {defaultPlan: b}}`, words: `unknown field "spec.defaultPlan"`},
		"WrongShape":   {reason: "What no definition could have stored is no object.", object: `{kind: ClusterServiceClass, metadata: {name: a}, spec: {externalID: [1]}}`, words: "spec.externalID"},
		"BrokenRule":   {reason: "Nor what breaks a rule of it.", object: `{kind: ProvisioningPolicy, metadata: {name: a}, spec: {action: Deny, subjects: [{}]}}`, words: "every plan is planSelector"},
		"BadName":      {reason: "Nor what has a name that is none.", object: `{kind: ClusterServiceType, metadata: {name: A_B}}`, words: "metadata.name"},
		"BadMetadata":  {reason: "Metadata is read, too.", object: `{kind: ClusterServiceType, metadata: {name: a, labels: {b: 1}}}`, words: "labels"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, shop)
			assert.ErrorContains(t, w.Load(read(t, tc.object)...), tc.words, tc.reason)
		})
	}
}

func TestLoadVersions(t *testing.T) {
	t.Parallel()
	w := newWorld(t, shop)
	object := read(t, `{kind: ServiceInstance, metadata: {name: a}, spec: {serviceType: mysql}}`)[0]
	object.SetAPIVersion("servicecatalog.k8s.io/v1")
	require.ErrorContains(t, w.Load(object), `the version that is served is "v1beta1"`)
	_, err := w.Apply(t.Context(), object)
	assert.ErrorContains(t, err, `the version that is served is "v1beta1"`)
}

// What was stored once is believed, whatever the definition says now.
func TestLoadBelievesWhatWasStored(t *testing.T) {
	t.Parallel()
	w := newWorld(t, `{kind: ClusterServiceType, metadata: {name: a, resourceVersion: "5", uid: u-1}, spec: {field: of-another-version}}`)
	found := &v1beta1.ClusterServiceType{}
	require.NoError(t, w.Reader().Get(t.Context(), client.ObjectKey{Name: "a"}, found))
	assert.EqualValues(t, "u-1", found.UID)
}

// What admission derives of an object alone is there, and what it does not know of it
// is not.
func TestLoadCompletes(t *testing.T) {
	t.Parallel()
	w := newWorld(t, shop)
	plan := &v1beta1.ClusterServicePlan{}
	require.NoError(t, w.Reader().Get(t.Context(), client.ObjectKey{Name: "small"}, plan))
	assert.Equal(t, v1beta1.HashLabelValue("db"), plan.Labels[v1beta1.LabelClusterServiceClassRefName])
	assert.NotEmpty(t, plan.UID)
	w.load(`{kind: ClusterServicePlan, metadata: {name: small}, spec: {externalName: tiny, externalID: small, clusterServiceClassRef: {name: db}}}`)
	uid := plan.UID
	plan = &v1beta1.ClusterServicePlan{}
	require.NoError(t, w.Reader().Get(t.Context(), client.ObjectKey{Name: "small"}, plan))
	assert.Equal(t, "tiny", plan.Spec.ExternalName, "it is replaced")
	assert.Empty(t, plan.Annotations, "whole")
	assert.Equal(t, uid, plan.UID, "and has the UID of its name")
}

// A plan of a file costs what its metadata says, as after a relist. One of a cluster has the status that it had there.
func TestLoadPrices(t *testing.T) {
	t.Parallel()
	const plan = `{kind: ClusterServicePlan, metadata: {name: priced%s}, spec: {externalName: priced, externalID: priced, clusterServiceClassRef: {name: db}, externalMetadata: %s}%s}`
	const dear = `{costs: [{amount: {usd: 250.0}, unit: MONTHLY}]}`
	for name, tc := range map[string]struct {
		meta, metadata, status string
		want                   []v1beta1.PlanCost
		malformed              string
	}{
		"Costs":     {metadata: dear, want: []v1beta1.PlanCost{{Currency: "usd", Amount: "250", Unit: "MONTHLY"}}},
		"None":      {metadata: `{displayName: costs}`},
		"Malformed": {metadata: `{costs: much}`, malformed: "costs is not a list"},
		"Status":    {metadata: dear, status: `, status: {costs: [{currency: usd, amount: "1", unit: DAILY}]}`, want: []v1beta1.PlanCost{{Currency: "usd", Amount: "1", Unit: "DAILY"}}},
		"Stored":    {meta: `, uid: u, resourceVersion: "5"`, metadata: dear},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, shop+"\n---\n"+fmt.Sprintf(plan, tc.meta, tc.metadata, tc.status))
			found := &v1beta1.ClusterServicePlan{}
			require.NoError(t, w.Reader().Get(t.Context(), client.ObjectKey{Name: "priced"}, found))
			assert.Equal(t, tc.want, found.Status.Costs)
			assert.Equal(t, tc.malformed, found.Status.MalformedCosts)
		})
	}
}

// A policy that cannot be read has no effect, as in a cluster, and that is told.
func TestLoadTellsIdlePolicies(t *testing.T) {
	t.Parallel()
	const bad = `{kind: ProvisioningPolicy, metadata: {name: near}, spec: {action: Deny, subjects: [{planSelector: {matchExpressions: [{key: a, operator: Near}]}}]}}`
	w := newWorld(t, shop)
	assert.Empty(t, w.Idle())
	w.load(bad)
	require.Len(t, w.Idle(), 1)
	assert.ErrorContains(t, w.Idle()[0], "near")
	w.admitted(`{kind: ServiceInstance, metadata: {name: a}, spec: {serviceType: mysql}}`)
	w.load(`{kind: ProvisioningPolicy, metadata: {name: near}, spec: {action: Deny, subjects: [{serviceType: mysql}]}}`)
	assert.Empty(t, w.Idle(), "it is mended")
	denied := w.apply(`{kind: ServiceInstance, metadata: {name: b}, spec: {serviceType: mysql}}`).Denied
	require.NotNil(t, denied, "and rules")
	assert.True(t, apierrors.IsForbidden(denied))
}

// A namespace is there whether it was given or not, and has its name as a label.
func TestNamespaces(t *testing.T) {
	t.Parallel()
	w := newWorld(t, shop)
	vault := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": "vault", "labels": map[string]any{"secure": "true"}}}}
	require.NoError(t, w.Load(vault))
	for name, want := range map[string]map[string]string{
		"vault": {"secure": "true", corev1.LabelMetadataName: "vault"}, "dev": {corev1.LabelMetadataName: "dev"},
	} {
		namespace := &corev1.Namespace{}
		require.NoError(t, w.Reader().Get(t.Context(), client.ObjectKey{Name: name}, namespace))
		assert.Equal(t, want, namespace.Labels)
	}
}

// The reader selects by what the API server selects by, and by nothing else.
func TestReader(t *testing.T) {
	t.Parallel()
	w := newWorld(t, shop+`---
{kind: ServicePlan, metadata: {name: own, namespace: dev, labels: {a: b}}, spec: {externalName: own, externalID: own, serviceClassRef: {name: local}}}
---
{kind: ServicePlan, metadata: {name: own, namespace: shop}, spec: {externalName: own, externalID: own, serviceClassRef: {name: local}}}
`)
	cases := map[string]struct {
		reason  string
		list    client.ObjectList
		options []client.ListOption
		want    []string
		failed  string
	}{
		"All":         {reason: "In the order of names.", list: &v1beta1.ClusterServicePlanList{}, want: []string{"/large", "/small"}},
		"Field":       {reason: "By a field of the definition.", list: &v1beta1.ClusterServicePlanList{}, options: []client.ListOption{client.MatchingFields{"spec.externalName": "small"}}, want: []string{"/small"}},
		"Defaulted":   {reason: "Defaults are values.", list: &v1beta1.ClusterServicePlanList{}, options: []client.ListOption{client.MatchingFields{"spec.free": "false"}}, want: []string{"/large", "/small"}},
		"Two":         {reason: "By two.", list: &v1beta1.ClusterServicePlanList{}, options: []client.ListOption{client.MatchingFields{"spec.externalName": "small", "spec.free": "true"}}},
		"Name":        {reason: "By name.", list: &v1beta1.ServicePlanList{}, options: []client.ListOption{client.MatchingFields{"metadata.name": "own", "metadata.namespace": "shop"}}, want: []string{"shop/own"}},
		"Namespace":   {reason: "In a namespace.", list: &v1beta1.ServicePlanList{}, options: []client.ListOption{client.InNamespace("dev")}, want: []string{"dev/own"}},
		"Label":       {reason: "By labels.", list: &v1beta1.ServicePlanList{}, options: []client.ListOption{client.MatchingLabels{"a": "b"}}, want: []string{"dev/own"}},
		"Unsupported": {reason: "Not by any field.", list: &v1beta1.ClusterServicePlanList{}, options: []client.ListOption{client.MatchingFields{"spec.weight": "1"}}, failed: "field label not supported: spec.weight"},
		"CachesOwn":   {reason: "Nor by an index of the webhook's cache.", list: &v1beta1.ClusterServicePlanList{}, options: []client.ListOption{client.MatchingFields{"defaultplan/external-name": "db/small"}}, failed: "field label not supported"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := w.Reader().List(t.Context(), tc.list, tc.options...)
			if tc.failed != "" {
				assert.ErrorContains(t, err, tc.failed, tc.reason)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, tc.want, namesOf(tc.list), tc.reason)
		})
	}
	assert.True(t, apierrors.IsNotFound(w.Reader().Get(t.Context(), client.ObjectKey{Name: "none"}, &v1beta1.ClusterServicePlan{})))
}

func namesOf(list client.ObjectList) []string {
	var names []string
	switch l := list.(type) {
	case *v1beta1.ClusterServicePlanList:
		for i := range l.Items {
			names = append(names, "/"+l.Items[i].Name)
		}
	case *v1beta1.ServicePlanList:
		for i := range l.Items {
			names = append(names, l.Items[i].Namespace+"/"+l.Items[i].Name)
		}
	}
	return names
}

// What is read is the reader's: changing it changes nothing that is stored.
func TestReaderCopies(t *testing.T) {
	t.Parallel()
	w := newWorld(t, shop)
	for range 2 {
		plan := &v1beta1.ClusterServicePlan{}
		require.NoError(t, w.Reader().Get(t.Context(), client.ObjectKey{Name: "small"}, plan))
		assert.Equal(t, "true", plan.Annotations[v1beta1.AnnotationDefaultPlan])
		plan.Annotations[v1beta1.AnnotationDefaultPlan] = "changed"
		var list v1beta1.ClusterServicePlanList
		require.NoError(t, w.Reader().List(t.Context(), &list))
		assert.Equal(t, "true", list.Items[1].Annotations[v1beta1.AnnotationDefaultPlan])
		list.Items[1].Annotations[v1beta1.AnnotationDefaultPlan] = "changed"
	}
}

func TestOptionsAreChecked(t *testing.T) {
	t.Parallel()
	options := options.New()
	options.Unresolved = "perhaps"
	_, err := offline.New(options)
	assert.ErrorContains(t, err, fmt.Sprintf("--unresolved is %q", "perhaps"))
}
