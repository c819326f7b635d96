package decision

import (
	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/webhook/catalog"
	"github.com/defaultplan/defaultplan/webhook/review"
)

// PreventDeletion annotates what was decided on a plan against deletion, where the plan or its class
// says so. A value of the user's stays.
func (d *Draft[S, P]) PreventDeletion(of *catalog.Definition) {
	if _, is := d.New.Metadata.Annotations[v1beta1.AnnotationPreventDeletion]; is || !of.PreventsDeletion {
		return
	}
	d.Annotations[v1beta1.AnnotationPreventDeletion] = "true"
	d.Warnf("the annotation %s protects it from deletion, as its plan or class asks", v1beta1.AnnotationPreventDeletion)
}

// RefusePreventDeletion denies an annotation against deletion that is neither true nor false: with another
// value, nothing would be protected. A stored annotation is not validated again.
func RefusePreventDeletion[S, P any](w *review.Write[S, P]) *review.Denial {
	const key = v1beta1.AnnotationPreventDeletion
	value, is := w.New.Metadata.Annotations[key]
	if !is || value == "true" || value == "false" {
		return nil
	}
	if w.Old != nil {
		if old, was := w.Old.Metadata.Annotations[key]; was && old == value {
			return nil
		}
	}
	return review.Invalid("InvalidPreventDeletion", "metadata.annotations["+key+"]", "it is neither \"true\" nor \"false\", and would protect nothing").
		Remedy("write \"true\" to protect the object from deletion, or \"false\" to have it deleted as any other")
}
