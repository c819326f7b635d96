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
	patchFields(&m.patch, keptFields, &m.spec, m.new.Spec)
	if m.spec.UserInfo != nil && !sameValue(m.spec.UserInfo, m.new.Spec.UserInfo) {
		m.patch.add(m.spec.UserInfo, "spec", "userInfo")
	}
	for _, added := range m.additions {
		m.patch.addAt("/spec/parameters"+added.pointer, added.value)
	}
	m.patch.addEntries(m.new.Metadata.Annotations, m.annotations, "metadata", "annotations")
	m.patch.addEntries(m.new.Metadata.Labels, hashedLabels(&m.spec.DecidedReference, m.new.Metadata.Labels), "metadata", "labels")
	if m.old == nil || m.settled || m.forgetsFinalizer() {
		patchFinalizer(&m.patch, m.new.Metadata.Finalizers)
	}
}

// forgetsFinalizer says that the write is a replacement of the object by a
// manifest, which never has our finalizer: without it a deletion would leave
// what was provisioned behind. Who takes it off on purpose leaves spec as it is.
func (m *instanceMutation) forgetsFinalizer() bool {
	return dropsFinalizer(&m.new.Metadata, &m.old.Metadata) && !sameSpec(m.old.Spec, m.new.Spec)
}

// dropsFinalizer says that a write takes our finalizer off an object that is not
// being deleted.
func dropsFinalizer(now, old *objectMeta) bool {
	return slices.Contains(old.Finalizers, v1beta1.FinalizerServiceCatalog) && now.DeletionTimestamp == nil
}

// patchFinalizer appends our finalizer to those of others.
func patchFinalizer(p *patch, present []string) {
	if slices.Contains(present, v1beta1.FinalizerServiceCatalog) {
		return
	}
	if present == nil {
		p.add([]string{v1beta1.FinalizerServiceCatalog}, "metadata", "finalizers")
		return
	}
	p.add(v1beta1.FinalizerServiceCatalog, "metadata", "finalizers", "-")
}
