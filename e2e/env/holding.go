package env

import (
	"encoding/json"
	"slices"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
)

// A Holding is what admission set of an instance, and what no write may take from it.
type Holding struct {
	// Class and Plan are the references: NAMESPACE/NAME, or /NAME for the cluster's.
	Class, Plan string
	Type        string
	Names       api.PlanReference
	Selector    string
	Sharing     string
	ExternalID  string
	Minted      string
	// User is the name in userInfo.
	User       string
	Applied    api.AppliedDefaults
	Parameters string
	// Hashed are the labels that old clients look instances up by.
	Hashed     map[string]string
	Finalizers []string
	Generation int64
}

// HoldingOf reads the instance of that name.
func (i *Instances) HoldingOf(name string) Holding {
	i.Helper()
	return i.Holding(i.Stored(name))
}

// Holding is that of an instance as it was read.
func (i *Instances) Holding(instance *api.ServiceInstance) Holding {
	i.Helper()
	h := Holding{
		Type: instance.Spec.ServiceType, Names: instance.Spec.PlanReference, Selector: i.JSON(instance.Spec.PlanSelector), Sharing: i.JSON(instance.Spec.Sharing),
		ExternalID: instance.Spec.ExternalID, Minted: instance.Annotations[api.AnnotationMintedExternalID],
		Parameters: ParametersOf(instance), Hashed: map[string]string{}, Finalizers: instance.Finalizers, Generation: instance.Generation,
	}
	h.Class, h.Plan = refsOf(instance)
	if instance.Spec.UserInfo != nil {
		h.User = instance.Spec.UserInfo.Username
	}
	if instance.Annotations[api.AnnotationAppliedDefaults] != "" {
		h.Applied = i.AppliedTo(instance)
	}
	for _, label := range HashedLabels {
		if value, ok := instance.Labels[label]; ok {
			h.Hashed[label] = value
		}
	}
	return h
}

// HashedLabels are the labels by which old clients look instances up.
var HashedLabels = []string{
	api.LabelClusterServiceClassRefName, api.LabelClusterServicePlanRefName,
	api.LabelServiceClassRefName, api.LabelServicePlanRefName,
}

// refsOf are the references of an instance, as in Holding; "both" if there are
// some of the cluster's and some of the namespace's. An empty one is none.
func refsOf(i *api.ServiceInstance) (ofClass, ofPlan string) {
	var own [2]string
	if ref := i.Spec.ClusterServiceClassRef; ref != nil && ref.Name != "" {
		ofClass = "/" + ref.Name
	}
	if ref := i.Spec.ClusterServicePlanRef; ref != nil && ref.Name != "" {
		ofPlan = "/" + ref.Name
	}
	if ref := i.Spec.ServiceClassRef; ref != nil && ref.Name != "" {
		own[0] = i.Namespace + "/" + ref.Name
	}
	if ref := i.Spec.ServicePlanRef; ref != nil && ref.Name != "" {
		own[1] = i.Namespace + "/" + ref.Name
	}
	switch {
	case own == [2]string{}:
		return ofClass, ofPlan
	case ofClass != "" || ofPlan != "":
		return "both", "both"
	}
	return own[0], own[1]
}

// HookFields are the fields that only admission writes; of the parameters, those
// that the defaults of the scenarios give.
var HookFields = [][]string{
	{"f:spec", "f:clusterServiceClassRef"}, {"f:spec", "f:clusterServicePlanRef"},
	{"f:spec", "f:serviceClassRef"}, {"f:spec", "f:servicePlanRef"},
	{"f:spec", "f:externalID"}, {"f:spec", "f:userInfo"},
	{"f:metadata", "f:annotations", "f:" + api.AnnotationAppliedDefaults},
	{"f:metadata", "f:annotations", "f:" + api.AnnotationMintedExternalID},
	{"f:metadata", "f:finalizers"}, {"f:metadata", "f:labels", "f:" + api.LabelClusterServicePlanRefName},
	{"f:spec", "f:parameters", "f:tags"}, {"f:spec", "f:parameters", "f:ssl"},
	{"f:spec", "f:parameters", "f:firewall", "f:end"},
}

// Owned are those of the fields that some manager owns, as "MANAGER PATH".
func (i *Instances) Owned(object client.Object, fields [][]string) []string {
	i.Helper()
	var found []string
	for _, entry := range object.GetManagedFields() {
		if entry.FieldsV1 == nil {
			continue
		}
		var set map[string]any
		require.NoError(i, json.Unmarshal(entry.FieldsV1.GetRawBytes(), &set))
		for _, path := range fields {
			if _, ok, err := unstructured.NestedFieldNoCopy(set, path...); ok && err == nil {
				found = append(found, entry.Manager+" "+path[len(path)-1])
			}
		}
	}
	slices.Sort(found)
	return slices.Compact(found)
}

// Terminate deletes the instance, which a finalizer holds, and returns what it
// holds once our own finalizer is off.
func (i *Instances) Terminate(name string) Holding {
	i.Helper()
	require.NoError(i, i.Client().Delete(i.Context(), i.Instance(name)))
	var last Holding
	i.Eventually(func() (bool, error) {
		last = i.HoldingOf(name)
		return len(last.Finalizers) == 1, nil
	})
	return last
}
