package webhook

import (
	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/webhook/review"
)

// adoptField is the mark of an instance that is at its broker already.
const adoptField = "metadata.annotations[" + v1beta1.AnnotationAdopt + "]"

// marked says that its user wants what the broker has to be taken over as it is.
func marked(m *review.ObjectMeta) bool { return m.Annotations[v1beta1.AnnotationAdopt] == "true" }

// adopts says that an instance is only compared with what its broker has: defaults are
// for what is made anew, and no schema judges what is not sent. A binding adopts
// nothing.
func adopts(w *instanceWrite) bool {
	return w.Req.Kind.Kind == "ServiceInstance" && marked(&w.New.Metadata)
}

// judgeMark refuses a mark that says neither yes nor no, and to mark an instance whose ID was minted for it: under that there
// is nothing but what it made itself. A mark that is stored is not judged again.
func (v *instanceValidation) judgeMark() {
	id := v.New.Spec.ExternalID
	if mark := v.New.Metadata.Annotations[v1beta1.AnnotationAdopt]; mark != "" && mark != "true" && mark != "false" &&
		(v.Old == nil || mark != v.Old.Metadata.Annotations[v1beta1.AnnotationAdopt]) {
		v.Deny(review.Invalid("InvalidMark", adoptField, "it is neither \"true\" nor \"false\", and a new instance would be provisioned").
			Remedy("write \"true\" to adopt what is at the broker, or leave the annotation out"))
		return
	}
	switch {
	case !adopts(v.instanceWrite) || id == "" || id != v.New.Metadata.Annotations[v1beta1.AnnotationMintedExternalID]:
	case v.Old == nil:
		v.Deny(review.Invalid("NothingToAdopt", adoptField, "it says that the instance is at its broker already, and spec.externalID does not say which it is").
			Remedy("say which: svcat adopt %s -n %s --external-id ID --class CLASS --plan PLAN", review.NameOf(v.Req), v.Req.Namespace).
			Remedy("or write its ID into spec.externalID of the manifest: kubectl explain serviceinstance.spec.externalID").
			Remedy("or leave the annotation out: then a new one is provisioned"))
	case !marked(&v.Old.Metadata):
		v.Deny(review.Invalid("NothingToAdopt", adoptField, "its ID at the broker was made for it: there is nothing under it that could be adopted").
			Remedy("leave the annotation out").
			Remedy("to adopt another, make another: svcat adopt NAME -n %s --external-id ID --class CLASS --plan PLAN", v.Req.Namespace))
	}
}
