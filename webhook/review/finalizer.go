package review

import (
	"slices"

	"github.com/defaultplan/defaultplan/api/v1beta1"
)

// DropsFinalizer says that a write takes our finalizer off an object that is not being
// deleted; old is the metadata that is stored.
func (m *ObjectMeta) DropsFinalizer(old *ObjectMeta) bool {
	return slices.Contains(old.Finalizers, v1beta1.FinalizerServiceCatalog) && m.DeletionTimestamp == nil
}

// AddFinalizer appends our finalizer to those that are present.
func (p *Patch) AddFinalizer(present []string) {
	if slices.Contains(present, v1beta1.FinalizerServiceCatalog) {
		return
	}
	if present == nil {
		p.Add([]string{v1beta1.FinalizerServiceCatalog}, "metadata", "finalizers")
		return
	}
	p.Add(v1beta1.FinalizerServiceCatalog, "metadata", "finalizers", "-")
}
