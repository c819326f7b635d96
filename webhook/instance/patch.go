package instance

import (
	"reflect"

	"github.com/defaultplan/defaultplan/webhook/references"
	"github.com/defaultplan/defaultplan/webhook/restore"
)

// BuildPatch writes down what admission adds to the write.
func (m *Mutation) BuildPatch() {
	if m.New.Specless {
		m.Patch.Add(struct{}{}, "spec")
	}
	restore.PatchFields(&m.Patch, keptFields, &m.Spec, m.New.Spec)
	if m.Spec.UserInfo != nil && !reflect.DeepEqual(m.Spec.UserInfo, m.New.Spec.UserInfo) {
		m.Patch.Add(m.Spec.UserInfo, "spec", "userInfo")
	}
	for _, added := range m.Additions {
		m.Patch.AddAt("/spec/parameters"+added.Pointer, added.Value)
	}
	m.Patch.AddEntries(m.New.Metadata.Annotations, m.Annotations, "metadata", "annotations")
	m.Patch.AddEntries(m.New.Metadata.Labels, references.HashedLabels(&m.Spec.DecidedReference, m.New.Metadata.Labels), "metadata", "labels")
	if m.Old == nil || m.Settled || m.forgetsFinalizer() {
		m.Patch.AddFinalizer(m.New.Metadata.Finalizers)
	}
}

// forgetsFinalizer says whether the write replaces the object by a manifest,
// which never has our finalizer: without it, a deletion would leave resources
// at the broker. A write that only removes the finalizer is intended, and
// leaves spec unchanged.
func (m *Mutation) forgetsFinalizer() bool {
	return m.New.Metadata.DropsFinalizer(&m.Old.Metadata) && !sameSpec(m.Old.Spec, m.New.Spec)
}
