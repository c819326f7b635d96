package webhook

import (
	"slices"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/webhook/review"
)

// BuildPatch writes down what admission adds to the write.
func (m *instanceMutation) BuildPatch() {
	if m.New.Specless {
		m.Patch.Add(struct{}{}, "spec")
	}
	patchFields(&m.Patch, keptFields, &m.spec, m.New.Spec)
	if m.spec.UserInfo != nil && !sameValue(m.spec.UserInfo, m.New.Spec.UserInfo) {
		m.Patch.Add(m.spec.UserInfo, "spec", "userInfo")
	}
	for _, added := range m.additions {
		m.Patch.AddAt("/spec/parameters"+added.pointer, added.value)
	}
	m.Patch.AddEntries(m.New.Metadata.Annotations, m.annotations, "metadata", "annotations")
	m.Patch.AddEntries(m.New.Metadata.Labels, hashedLabels(&m.spec.DecidedReference, m.New.Metadata.Labels), "metadata", "labels")
	if m.Old == nil || m.settled || m.forgetsFinalizer() {
		patchFinalizer(&m.Patch, m.New.Metadata.Finalizers)
	}
}

// forgetsFinalizer says whether the write replaces the object by a manifest,
// which never has our finalizer: without it, a deletion would leave resources
// at the broker. A write that only removes the finalizer is intended, and
// leaves spec unchanged.
func (m *instanceMutation) forgetsFinalizer() bool {
	return dropsFinalizer(&m.New.Metadata, &m.Old.Metadata) && !sameSpec(m.Old.Spec, m.New.Spec)
}

// dropsFinalizer says that a write takes our finalizer off an object that is not
// being deleted.
func dropsFinalizer(now, old *review.ObjectMeta) bool {
	return slices.Contains(old.Finalizers, v1beta1.FinalizerServiceCatalog) && now.DeletionTimestamp == nil
}

// patchFinalizer appends our finalizer to those of others.
func patchFinalizer(p *review.Patch, present []string) {
	if slices.Contains(present, v1beta1.FinalizerServiceCatalog) {
		return
	}
	if present == nil {
		p.Add([]string{v1beta1.FinalizerServiceCatalog}, "metadata", "finalizers")
		return
	}
	p.Add(v1beta1.FinalizerServiceCatalog, "metadata", "finalizers", "-")
}
