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
func (e *Env) HoldingOf(name string) Holding {
	e.Helper()
	return e.Holding(e.Stored(name))
}

// Holding is that of an instance as it was read.
func (e *Env) Holding(i *api.ServiceInstance) Holding {
	e.Helper()
	h := Holding{
		Type: i.Spec.ServiceType, Names: i.Spec.PlanReference, Selector: e.JSON(i.Spec.PlanSelector), Sharing: e.JSON(i.Spec.Sharing),
		ExternalID: i.Spec.ExternalID, Minted: i.Annotations[api.AnnotationMintedExternalID],
		Parameters: ParametersOf(i), Hashed: map[string]string{}, Finalizers: i.Finalizers, Generation: i.Generation,
	}
	h.Class, h.Plan = refsOf(i)
	if i.Spec.UserInfo != nil {
		h.User = i.Spec.UserInfo.Username
	}
	if i.Annotations[api.AnnotationAppliedDefaults] != "" {
		h.Applied = e.AppliedTo(i)
	}
	for _, label := range HashedLabels {
		if value, ok := i.Labels[label]; ok {
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

// JSON is the JSON of an optional value, "" for none.
func (e *Env) JSON(value any) string {
	e.Helper()
	text, err := json.Marshal(value)
	require.NoError(e, err)
	if string(text) == "null" {
		return ""
	}
	return string(text)
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
func (e *Env) Owned(object client.Object, fields [][]string) []string {
	e.Helper()
	var found []string
	for _, entry := range object.GetManagedFields() {
		if entry.FieldsV1 == nil {
			continue
		}
		var set map[string]any
		require.NoError(e, json.Unmarshal(entry.FieldsV1.GetRawBytes(), &set))
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
func (e *Env) Terminate(name string) Holding {
	e.Helper()
	require.NoError(e, e.Client().Delete(e.Context(), e.Instance(name)))
	var last Holding
	e.Eventually(func() (bool, error) {
		last = e.HoldingOf(name)
		return len(last.Finalizers) == 1, nil
	})
	return last
}
