package defaults

import (
	"testing"

	"github.com/stretchr/testify/assert"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/defaultplan/defaultplan/api/v1beta1"
)

// Who wrote the record tells a default that followed an annotation from a switch
// that comes before one. The entries are as a kube-apiserver makes them.
func TestWhoWroteTheRecord(t *testing.T) {
	t.Parallel()
	const record, emptied = `{"f:spec":{".":{},"f:defaultPlanRef":{".":{},"f:name":{}}}}`, `{"f:spec":{".":{},"f:defaultPlanRef":{}}}`
	for name, tc := range map[string]struct {
		reason  string
		entries []metav1.ManagedFieldsEntry
		want    bool
	}{
		"Keeper":       {reason: "it follows annotations", entries: written("defaultplan-keeper", record), want: true},
		"User":         {reason: "who switches", entries: written("kubectl-patch", record)},
		"UserAfter":    {reason: "a switch takes the name over, not the object around it", entries: append(written("defaultplan-keeper", emptied), written("kubectl-patch", `{"f:spec":{"f:defaultPlanRef":{"f:name":{}}}}`)...)},
		"Both":         {reason: "an apply of the same: it may be meant as a switch", entries: append(written("defaultplan-keeper", record), written("argocd", record)...)},
		"LabelsOfUser": {reason: "who wrote something else", entries: append(written("defaultplan-keeper", record), written("kubectl-label", `{"f:metadata":{"f:labels":{"f:a":{}}}}`)...), want: true},
		"Unknown":      {reason: "it is unknown"},
		"Unreadable":   {reason: "it is unknown", entries: written("defaultplan-keeper", `[]`)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			kept := &v1beta1.ClusterServiceType{ObjectMeta: metav1.ObjectMeta{Name: "db", ManagedFields: tc.entries}}
			assert.Equal(t, tc.want, typeObject{kept}.followed(), tc.reason)
		})
	}
	assert.False(t, typeObject{}.followed(), "what is not there")
}

func written(manager, fields string) []metav1.ManagedFieldsEntry {
	return []metav1.ManagedFieldsEntry{{Manager: manager, FieldsV1: metav1.NewFieldsV1(fields)}}
}
