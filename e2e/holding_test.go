package e2e_test

import (
	"encoding/json"
	"slices"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
)

// A holding is what an instance holds by admission's hand, and what it must not
// lose by anyone's.
type holding struct {
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

// holdingOf reads the instance of that name anew.
func (w *world) holdingOf(name string) holding {
	w.Helper()
	return w.holding(w.stored(name))
}

// stored is the instance of that name, as it is stored.
func (w *world) stored(name string) *api.ServiceInstance {
	w.Helper()
	instance := w.instance(name)
	w.get(instance)
	return instance
}

// wire is instance "db" in JSON, as the API server sends it.
func (w *world) wire() *unstructured.Unstructured {
	w.Helper()
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(api.GroupVersion.WithKind("ServiceInstance"))
	object.SetNamespace(w.namespace)
	object.SetName("db")
	w.get(object)
	return object
}

func (w *world) holding(i *api.ServiceInstance) holding {
	w.Helper()
	h := holding{
		Type: i.Spec.ServiceType, Names: i.Spec.PlanReference, Selector: w.json(i.Spec.PlanSelector), Sharing: w.json(i.Spec.Sharing),
		ExternalID: i.Spec.ExternalID, Minted: i.Annotations[api.AnnotationMintedExternalID],
		Parameters: parametersOf(i), Hashed: map[string]string{}, Finalizers: i.Finalizers, Generation: i.Generation,
	}
	h.Class, h.Plan = refsOf(i)
	if i.Spec.UserInfo != nil {
		h.User = i.Spec.UserInfo.Username
	}
	if i.Annotations[api.AnnotationAppliedDefaults] != "" {
		h.Applied = w.appliedTo(i)
	}
	for _, label := range hashedLabels {
		if value, ok := i.Labels[label]; ok {
			h.Hashed[label] = value
		}
	}
	return h
}

var hashedLabels = []string{
	api.LabelClusterServiceClassRefName, api.LabelClusterServicePlanRefName,
	api.LabelServiceClassRefName, api.LabelServicePlanRefName,
}

// refsOf are the references of an instance, as in holding; "both" if there are
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

// json is the JSON of an optional value, "" for none.
func (w *world) json(value any) string {
	w.Helper()
	text, err := json.Marshal(value)
	require.NoError(w, err)
	if string(text) == "null" {
		return ""
	}
	return string(text)
}

// holds asserts what instance "db" holds.
func (w *world) holds(want holding, reason string) {
	w.Helper()
	assert.Empty(w, cmp.Diff(want, w.holdingOf("db")), "(-want +got) %s", reason)
}

// hookFields are the fields that only admission writes; of the parameters, those
// that the defaults of the scenarios give.
var hookFields = [][]string{
	{"f:spec", "f:clusterServiceClassRef"}, {"f:spec", "f:clusterServicePlanRef"},
	{"f:spec", "f:serviceClassRef"}, {"f:spec", "f:servicePlanRef"},
	{"f:spec", "f:externalID"}, {"f:spec", "f:userInfo"},
	{"f:metadata", "f:annotations", "f:" + api.AnnotationAppliedDefaults},
	{"f:metadata", "f:annotations", "f:" + api.AnnotationMintedExternalID},
	{"f:metadata", "f:finalizers"}, {"f:metadata", "f:labels", "f:" + api.LabelClusterServicePlanRefName},
	{"f:spec", "f:parameters", "f:tags"}, {"f:spec", "f:parameters", "f:ssl"},
	{"f:spec", "f:parameters", "f:firewall", "f:end"},
}

// owned are those of the fields that some manager owns, as "MANAGER PATH".
func (w *world) owned(object client.Object, fields [][]string) []string {
	w.Helper()
	var found []string
	for _, entry := range object.GetManagedFields() {
		if entry.FieldsV1 == nil {
			continue
		}
		var set map[string]any
		require.NoError(w, json.Unmarshal(entry.FieldsV1.GetRawBytes(), &set))
		for _, path := range fields {
			if _, ok, err := unstructured.NestedFieldNoCopy(set, path...); ok && err == nil {
				found = append(found, entry.Manager+" "+path[len(path)-1])
			}
		}
	}
	slices.Sort(found)
	return slices.Compact(found)
}
