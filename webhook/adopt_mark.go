package webhook

import (
	"github.com/defaultplan/defaultplan/api/v1beta1"
)

// adoptField is the mark of an instance that is at its broker already.
const adoptField = "metadata.annotations[" + v1beta1.AnnotationAdopt + "]"

// marked says that its user wants what the broker has to be taken over as it is.
func (m *objectMeta) marked() bool { return m.Annotations[v1beta1.AnnotationAdopt] == "true" }

// adopts says that an instance is only compared with what its broker has: defaults are
// for what is made anew, and no schema judges what is not sent. A binding adopts
// nothing.
func (w *write[S, P]) adopts() bool {
	return w.req.Kind.Kind == "ServiceInstance" && w.new.Metadata.marked()
}

// judgeMark refuses a mark that says neither yes nor no, and to mark an instance whose ID was minted for it: under that there
// is nothing but what it made itself. A mark that is stored is not judged again.
func (v *instanceValidation) judgeMark() {
	id := v.new.Spec.ExternalID
	if mark := v.new.Metadata.Annotations[v1beta1.AnnotationAdopt]; mark != "" && mark != "true" && mark != "false" &&
		(v.old == nil || mark != v.old.Metadata.Annotations[v1beta1.AnnotationAdopt]) {
		v.deny(invalid("InvalidMark", adoptField, "it is neither \"true\" nor \"false\", and a new instance would be provisioned").
			remedy("write \"true\" to adopt what is at the broker, or leave the annotation out"))
		return
	}
	switch {
	case !v.adopts() || id == "" || id != v.new.Metadata.Annotations[v1beta1.AnnotationMintedExternalID]:
	case v.old == nil:
		v.deny(invalid("NothingToAdopt", adoptField, "it says that the instance is at its broker already, and spec.externalID does not say which it is").
			remedy("say which: svcat adopt %s -n %s --external-id ID --class CLASS --plan PLAN", nameOf(v.req), v.req.Namespace).
			remedy("or write its ID into spec.externalID of the manifest: kubectl explain serviceinstance.spec.externalID").
			remedy("or leave the annotation out: then a new one is provisioned"))
	case !v.old.Metadata.marked():
		v.deny(invalid("NothingToAdopt", adoptField, "its ID at the broker was made for it: there is nothing under it that could be adopted").
			remedy("leave the annotation out").
			remedy("to adopt another, make another: svcat adopt NAME -n %s --external-id ID --class CLASS --plan PLAN", v.req.Namespace))
	}
}
