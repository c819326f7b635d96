package instance

import (
	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/webhook/externalid"
	"github.com/defaultplan/defaultplan/webhook/review"
)

// adoptField is the annotation of an instance that exists at its broker
// already.
const adoptField = "metadata.annotations[" + v1beta1.AnnotationAdopt + "]"

// adopts says whether an instance is only compared with what its broker has.
// Defaults apply to new instances only, and parameters that are not sent are not
// validated. A binding adopts nothing.
func adopts(w *Write) bool {
	return w.Req.Kind.Kind == "ServiceInstance" && externalid.Marked(&w.New.Metadata)
}

// refuseMark denies an annotation that is neither true nor false, and one on an
// instance whose ID was generated for it: nothing else can exist under that ID.
// A stored annotation is not validated again.
func refuseMark(w *Write) *review.Denial {
	id, marks := w.New.Spec.ExternalID, w.New.Metadata.Annotations
	if mark := marks[v1beta1.AnnotationAdopt]; mark != "" && mark != "true" && mark != "false" &&
		(w.Old == nil || mark != w.Old.Metadata.Annotations[v1beta1.AnnotationAdopt]) {
		return review.Invalid("InvalidMark", adoptField, "it is neither \"true\" nor \"false\", and a new instance would be provisioned").
			Remedy("write \"true\" to adopt what is at the broker, or leave the annotation out")
	}
	switch {
	case !adopts(w) || id == "" || id != marks[v1beta1.AnnotationMintedExternalID]:
		return nil
	case w.Old == nil:
		return review.Invalid("NothingToAdopt", adoptField, "it says that the instance is at its broker already, and spec.externalID does not say which it is").
			Remedy("say which: svcat adopt %s -n %s --external-id ID --class CLASS --plan PLAN", review.NameOf(w.Req), w.Req.Namespace).
			Remedy("or write its ID into spec.externalID of the manifest: kubectl explain serviceinstance.spec.externalID").
			Remedy("or leave the annotation out: then a new one is provisioned")
	case !externalid.Marked(&w.Old.Metadata):
		return review.Invalid("NothingToAdopt", adoptField, "its ID at the broker was made for it: there is nothing under it that could be adopted").
			Remedy("leave the annotation out").
			Remedy("to adopt another, make another: svcat adopt NAME -n %s --external-id ID --class CLASS --plan PLAN", w.Req.Namespace)
	}
	return nil
}
