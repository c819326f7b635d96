package resolve_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/resolve"
	"github.com/defaultplan/defaultplan/resolve/costs"
)

func deleted() *metav1.Time { return &metav1.Time{Time: time.Unix(1, 0)} }

func TestClassFrom(t *testing.T) {
	t.Parallel()
	meta := metav1.ObjectMeta{Name: "uuid-1", Labels: map[string]string{"a": "b"}}
	spec := v1beta1.CommonServiceClassSpec{ExternalName: "cache", ExternalID: "uuid", ServiceType: "redis"}
	want := resolve.ClassEntry{
		Ref: resolve.Ref{Name: "uuid-1"}, ExternalName: "cache", ExternalID: "uuid", Type: "redis", Labels: map[string]string{"a": "b"},
	}
	cluster := &v1beta1.ClusterServiceClass{ObjectMeta: meta}
	cluster.Spec.CommonServiceClassSpec = spec
	namespaced := &v1beta1.ServiceClass{ObjectMeta: meta}
	namespaced.Namespace, namespaced.Spec.CommonServiceClassSpec = "dev", spec

	assert.Empty(t, cmp.Diff(want, resolve.ClassFrom(cluster)), "A cluster's class has no namespace.")
	want.Namespace = "dev"
	assert.Empty(t, cmp.Diff(want, resolve.ClassFrom(namespaced)), "A namespace's class has one, and nothing else differs.")

	cluster.Status.RemovedFromBrokerCatalog = true
	namespaced.Status.RemovedFromBrokerCatalog = true
	assert.Equal(t, "removed from its broker's catalog", resolve.ClassFrom(cluster).Gone, "The broker lists it no more.")
	assert.Equal(t, "removed from its broker's catalog", resolve.ClassFrom(namespaced).Gone, "Nor this one.")
	cluster.DeletionTimestamp = deleted()
	assert.Equal(t, "being deleted", resolve.ClassFrom(cluster).Gone, "Deletion is the stronger reason.")
}

func TestPlanFrom(t *testing.T) {
	t.Parallel()
	meta := metav1.ObjectMeta{
		Name: "uuid-2", UID: "7", Labels: map[string]string{"a": "b"},
		Annotations: map[string]string{v1beta1.AnnotationDefaultPlan: "true"},
	}
	spec := v1beta1.CommonServicePlanSpec{ExternalName: "small", ExternalID: "uuid", ServiceType: "redis", Weight: 3}
	want := resolve.PlanEntry{
		Ref: resolve.Ref{Name: "uuid-2"}, UID: "7", Class: "uuid-1", ExternalName: "small", ExternalID: "uuid", Type: "redis",
		Labels: map[string]string{"a": "b"}, Default: true, Weight: 3,
	}
	cluster := &v1beta1.ClusterServicePlan{ObjectMeta: *meta.DeepCopy()}
	cluster.Spec.CommonServicePlanSpec, cluster.Spec.ClusterServiceClassRef.Name = spec, "uuid-1"
	namespaced := &v1beta1.ServicePlan{ObjectMeta: *meta.DeepCopy()}
	namespaced.Namespace = "dev"
	namespaced.Spec.CommonServicePlanSpec, namespaced.Spec.ServiceClassRef.Name = spec, "uuid-1"

	assert.Empty(t, cmp.Diff(want, resolve.PlanFrom(cluster)), "A cluster's plan has no namespace.")
	want.Namespace = "dev"
	assert.Empty(t, cmp.Diff(want, resolve.PlanFrom(namespaced)), "A namespace's plan has one, and nothing else differs.")

	cluster.Annotations = map[string]string{v1beta1.AnnotationDefaultPlan: "yes", v1beta1.AnnotationSuggestedPlan: "true"}
	got := resolve.PlanFrom(cluster)
	assert.False(t, got.Default, `Only "true" makes a default.`)
	assert.True(t, got.Suggested, "A suggestion is an annotation of its own.")

	cluster.Status.RemovedFromBrokerCatalog = true
	namespaced.DeletionTimestamp = deleted()
	assert.Equal(t, "removed from its broker's catalog", resolve.PlanFrom(cluster).Gone, "The broker lists it no more.")
	assert.Equal(t, "being deleted", resolve.PlanFrom(namespaced).Gone, "It is on its way out.")
}

func TestRecordFrom(t *testing.T) {
	t.Parallel()
	spec := v1beta1.ServiceTypeSpec{DefaultPlanRef: &v1beta1.PlanObjectReference{Name: "uuid-2"}}
	cluster := &v1beta1.ClusterServiceType{ObjectMeta: metav1.ObjectMeta{Name: "redis"}, Spec: spec}
	namespaced := &v1beta1.ServiceType{ObjectMeta: metav1.ObjectMeta{Name: "redis", Namespace: "dev"}, Spec: spec}

	assert.Equal(t, resolve.Record{Type: "redis", Plan: resolve.Ref{Name: "uuid-2"}}, resolve.RecordFrom(cluster), "The cluster's plan.")
	assert.Equal(t, resolve.Record{Type: "redis", Plan: resolve.Ref{Namespace: "dev", Name: "uuid-2"}}, resolve.RecordFrom(namespaced),
		"A plan of the record's own namespace.")

	cluster.DeletionTimestamp = deleted()
	namespaced.Spec.DefaultPlanRef = nil
	assert.Empty(t, resolve.RecordFrom(cluster).Plan.Name, "A record being deleted says nothing any more.")
	assert.Empty(t, resolve.RecordFrom(namespaced).Plan.Name, "And one without a plan nothing yet.")
}

func TestRequestFor(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason string
		ref    v1beta1.PlanReference
		want   resolve.Request
	}{
		"Nothing": {
			reason: "An instance that gives only a type names nothing.",
			want:   resolve.Request{Namespace: "dev", Seed: "dev/mydb"},
		},
		"ExternalNames": {
			reason: "The cluster's, by external name.",
			ref:    v1beta1.PlanReference{ClusterServiceClassExternalName: "cache", ClusterServicePlanExternalName: "small"},
			want: resolve.Request{
				Namespace: "dev", Seed: "dev/mydb",
				Class: resolve.Named{By: resolve.ByExternalName, Value: "cache"}, Plan: resolve.Named{By: resolve.ByExternalName, Value: "small"},
			},
		},
		"NamespacedIDs": {
			reason: "The namespace's, by external ID and Kubernetes name.",
			ref:    v1beta1.PlanReference{ServiceClassExternalID: "1", ServicePlanName: "two"},
			want: resolve.Request{
				Namespace: "dev", Seed: "dev/mydb", Namespaced: true,
				Class: resolve.Named{By: resolve.ByExternalID, Value: "1"}, Plan: resolve.Named{By: resolve.ByName, Value: "two"},
			},
		},
		"PlanAlone": {
			reason: "A plan alone has a scope too: on UPDATE it is looked up in the decided class.",
			ref:    v1beta1.PlanReference{ServicePlanExternalID: "2"},
			want: resolve.Request{
				Namespace: "dev", Seed: "dev/mydb", Namespaced: true, Plan: resolve.Named{By: resolve.ByExternalID, Value: "2"},
			},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := resolve.RequestFor(&tc.ref, "dev", "dev/mydb")
			require.NoError(t, err)
			assert.Empty(t, cmp.Diff(tc.want, got), tc.reason)
		})
	}
}

func TestRequestForReadsEveryField(t *testing.T) {
	t.Parallel()
	cases := map[string]v1beta1.PlanReference{
		"spec.clusterServiceClassName":         {ClusterServiceClassName: "x"},
		"spec.clusterServiceClassExternalName": {ClusterServiceClassExternalName: "x"},
		"spec.clusterServiceClassExternalID":   {ClusterServiceClassExternalID: "x"},
		"spec.clusterServicePlanName":          {ClusterServicePlanName: "x"},
		"spec.clusterServicePlanExternalName":  {ClusterServicePlanExternalName: "x"},
		"spec.clusterServicePlanExternalID":    {ClusterServicePlanExternalID: "x"},
		"spec.serviceClassName":                {ServiceClassName: "x"},
		"spec.serviceClassExternalName":        {ServiceClassExternalName: "x"},
		"spec.serviceClassExternalID":          {ServiceClassExternalID: "x"},
		"spec.servicePlanName":                 {ServicePlanName: "x"},
		"spec.servicePlanExternalName":         {ServicePlanExternalName: "x"},
		"spec.servicePlanExternalID":           {ServicePlanExternalID: "x"},
	}
	for field, ref := range cases {
		t.Run(field, func(t *testing.T) {
			t.Parallel()
			req, err := resolve.RequestFor(&ref, "dev", "")
			require.NoError(t, err)
			_, err = resolve.Plan(req, resolve.Catalog{})
			var refused *resolve.Error
			require.ErrorAs(t, err, &refused)
			assert.Equal(t, field, refused.Field, "What was read from a field is blamed on that field.")
			assert.Equal(t, "x", refused.Value, "With what it says.")
		})
	}
}

func TestRequestForRefuses(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason string
		ref    v1beta1.PlanReference
		want   string
	}{
		"ClassTwice": {
			reason: "Two names of a class could mean two.",
			ref:    v1beta1.PlanReference{ClusterServiceClassName: "a", ClusterServiceClassExternalID: "b"},
			want: `cannot resolve spec.clusterServiceClassExternalID "b": it cannot stand beside spec.clusterServiceClassName: ` +
				`give one name, in one scope`,
		},
		"PlanTwice": {
			reason: "So could two of a plan.",
			ref:    v1beta1.PlanReference{ServicePlanExternalName: "a", ServicePlanExternalID: "b"},
			want: `cannot resolve spec.servicePlanExternalID "b": it cannot stand beside spec.servicePlanExternalName: ` +
				`give one name, in one scope`,
		},
		"ClassInBothScopes": {
			reason: "The cluster's and the namespace's.",
			ref:    v1beta1.PlanReference{ClusterServiceClassExternalName: "a", ServiceClassExternalName: "a"},
			want: `cannot resolve spec.serviceClassExternalName "a": it cannot stand beside spec.clusterServiceClassExternalName: ` +
				`give one name, in one scope`,
		},
		"ClassAndPlanOfTwoScopes": {
			reason: "A plan has its class's scope.",
			ref:    v1beta1.PlanReference{ClusterServiceClassExternalName: "a", ServicePlanExternalName: "b"},
			want: `cannot resolve spec.servicePlanExternalName "b": it cannot stand beside spec.clusterServiceClassExternalName: ` +
				`class and plan are of one scope`,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := resolve.RequestFor(&tc.ref, "dev", "dev/mydb")
			require.EqualError(t, err, tc.want, tc.reason)
			var refused *resolve.Error
			require.ErrorAs(t, err, &refused)
			assert.Equal(t, resolve.InvalidReference, refused.Reason, tc.reason)
		})
	}
}

// Costs that only metadata names are not taken for none: no relist has read them yet. A cache keeps that.
func TestPlanWithUnreadCosts(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		reason, metadata string
		listed           []v1beta1.PlanCost
		want             bool
	}{
		"Unread": {reason: "the status is written later", metadata: `{"costs": [{"amount": {"usd": 465}, "unit": "MONTHLY"}]}`, want: true},
		"Read":   {reason: "status has them", metadata: `{"costs": [{"amount": {"usd": 465}, "unit": "MONTHLY"}]}`, listed: []v1beta1.PlanCost{{Currency: "usd", Amount: "465", Unit: "MONTHLY"}}},
		"Bad":    {reason: "what cannot be read is not nothing", metadata: `{"costs": "much"}`, want: true},
		"None":   {reason: "an empty list names none", metadata: `{"costs": []}`},
		"Other":  {reason: "no costs", metadata: `{"displayName": "Small"}`},
		"Absent": {reason: "no metadata"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			plan := &v1beta1.ClusterServicePlan{}
			plan.Spec.Free, plan.Status.Costs = true, test.listed
			if test.metadata != "" {
				plan.Spec.ExternalMetadata = &runtime.RawExtension{Raw: []byte(test.metadata)}
			}
			want := resolve.Costs{Listed: test.listed, Unread: test.want, Free: true}
			assert.Equal(t, want, resolve.PlanFrom(plan).Costs, test.reason)
			plan.Spec.ExternalMetadata = costs.Slim(plan.Spec.ExternalMetadata)
			assert.Equal(t, want, resolve.PlanFrom(plan).Costs, "in a cache")
		})
	}
}
