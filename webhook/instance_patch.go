package webhook

import (
	"slices"

	"github.com/defaultplan/defaultplan/api/v1beta1"
)

// buildPatch writes down what admission adds to the write.
func (m *instanceMutation) buildPatch() {
	if m.new.specless {
		m.patch.add(struct{}{}, "spec")
	}
	m.patchSpec()
	if m.spec.UserInfo != nil && !sameValue(m.spec.UserInfo, m.new.Spec.UserInfo) {
		m.patch.add(m.spec.UserInfo, "spec", "userInfo")
	}
	for _, added := range m.additions {
		m.patch.addAt("/spec/parameters"+added.pointer, added.value)
	}
	m.patch.addEntries(m.new.Metadata.Annotations, m.annotations, "metadata", "annotations")
	m.patch.addEntries(m.new.Metadata.Labels, hashedLabels(&m.spec.DecidedReference, m.new.Metadata.Labels), "metadata", "labels")
	if m.old == nil || m.settled || m.forgetsFinalizer() {
		m.patchFinalizer()
	}
}

// forgetsFinalizer says that the write is a replacement of the object by a
// manifest, which never has our finalizer: without it a deletion would leave
// what was provisioned behind. Who takes it off on purpose leaves spec as it is.
func (m *instanceMutation) forgetsFinalizer() bool {
	return slices.Contains(m.old.Metadata.Finalizers, v1beta1.FinalizerServiceCatalog) &&
		!m.new.deleting() && !sameSpec(m.old.Spec, m.new.Spec)
}

// patchFinalizer appends our finalizer to those of others.
func (m *instanceMutation) patchFinalizer() {
	if slices.Contains(m.new.Metadata.Finalizers, v1beta1.FinalizerServiceCatalog) {
		return
	}
	if m.new.Metadata.Finalizers == nil {
		m.patch.add([]string{v1beta1.FinalizerServiceCatalog}, "metadata", "finalizers")
		return
	}
	m.patch.add(v1beta1.FinalizerServiceCatalog, "metadata", "finalizers", "-")
}
