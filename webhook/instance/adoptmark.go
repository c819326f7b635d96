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

// validateMark denies an annotation that is neither true nor false, and one on an
// instance whose ID was generated for it: nothing else can exist under that ID.
// A stored annotation is not validated again.
func (v *Validation) validateMark() {
	id := v.New.Spec.ExternalID
	if mark := v.New.Metadata.Annotations[v1beta1.AnnotationAdopt]; mark != "" && mark != "true" && mark != "false" &&
		(v.Old == nil || mark != v.Old.Metadata.Annotations[v1beta1.AnnotationAdopt]) {
		v.Deny(review.Invalid("InvalidMark", adoptField, "it is neither \"true\" nor \"false\", and a new instance would be provisioned").
			Remedy("write \"true\" to adopt what is at the broker, or leave the annotation out"))
		return
	}
	switch {
	case !adopts(v.Write) || id == "" || id != v.New.Metadata.Annotations[v1beta1.AnnotationMintedExternalID]:
	case v.Old == nil:
		v.Deny(review.Invalid("NothingToAdopt", adoptField, "it says that the instance is at its broker already, and spec.externalID does not say which it is").
			Remedy("say which: svcat adopt %s -n %s --external-id ID --class CLASS --plan PLAN", review.NameOf(v.Req), v.Req.Namespace).
			Remedy("or write its ID into spec.externalID of the manifest: kubectl explain serviceinstance.spec.externalID").
			Remedy("or leave the annotation out: then a new one is provisioned"))
	case !externalid.Marked(&v.Old.Metadata):
		v.Deny(review.Invalid("NothingToAdopt", adoptField, "its ID at the broker was made for it: there is nothing under it that could be adopted").
			Remedy("leave the annotation out").
			Remedy("to adopt another, make another: svcat adopt NAME -n %s --external-id ID --class CLASS --plan PLAN", v.Req.Namespace))
	}
}
