package v1beta1_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/defaultplan/defaultplan/api/v1beta1"
)

func TestRecordedByKeeper(t *testing.T) {
	t.Parallel()
	entry := func(manager, fields string) metav1.ManagedFieldsEntry {
		return metav1.ManagedFieldsEntry{Manager: manager, FieldsV1: metav1.NewFieldsV1(fields)}
	}
	const record = `{"f:spec":{"f:defaultPlanRef":{"f:name":{}}}}`
	for name, tc := range map[string]struct {
		reason  string
		entries []metav1.ManagedFieldsEntry
		want    bool
	}{
		"None":     {reason: "no one recorded it"},
		"Keeper":   {reason: "the keeper did", entries: []metav1.ManagedFieldsEntry{entry(v1beta1.FieldOwnerKeeper, record)}, want: true},
		"Operator": {reason: "someone switched", entries: []metav1.ManagedFieldsEntry{entry("kubectl-patch", record)}},
		"Both": {reason: "someone wrote it, too", entries: []metav1.ManagedFieldsEntry{
			entry(v1beta1.FieldOwnerKeeper, record), entry("kubectl-patch", record),
		}},
		"OtherField": {reason: "a label is no record", entries: []metav1.ManagedFieldsEntry{
			entry(v1beta1.FieldOwnerKeeper, record), entry("kubectl-label", `{"f:metadata":{"f:labels":{"f:a":{}}}}`),
		}, want: true},
		"Unreadable": {reason: "what cannot be read says nothing", entries: []metav1.ManagedFieldsEntry{
			entry(v1beta1.FieldOwnerKeeper, `{"f:spec":[]}`), {Manager: "x"},
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, tc.want, v1beta1.RecordedByKeeper(tc.entries), tc.reason)
		})
	}
}
