package externalid

import (
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/webhook/review"
)

// markField is the annotation of an instance or binding that exists at its broker
// already.
const markField = "metadata.annotations[" + v1beta1.AnnotationAdopt + "]"

// A Mark is a write of an instance or binding, as far as it says that the object exists at
// its broker already.
type Mark struct {
	Req *admission.Request
	// New is the metadata that is to be stored, and Old, nil on CREATE, what is stored.
	New, Old *review.ObjectMeta
	// Id is the external ID to be.
	Id string
	// Dedicated says that a binding gets an instance of its own, which is a new one.
	Dedicated bool
}

// markWords are what denials of a kind say.
type markWords struct {
	// noun is the kind, and would and then are what becomes of one without the annotation.
	noun, would, then string
	// say and sayAnother are the commands that name what is to be adopted.
	say, sayAnother string
}

var wordsOf = map[string]markWords{
	"ServiceInstance": {
		noun: "instance", would: "a new instance would be provisioned", then: "a new one is provisioned",
		say: "svcat adopt %s -n %s --external-id ID --class CLASS --plan PLAN", sayAnother: "svcat adopt NAME -n %s --external-id ID --class CLASS --plan PLAN",
	},
	"ServiceBinding": {
		noun: "binding", would: "new credentials would be requested", then: "new credentials are requested",
		say: "svcat bind INSTANCE --name %s -n %s --external-id ID --adopt", sayAnother: "svcat bind INSTANCE --name NAME -n %s --external-id ID --adopt",
	},
}

// Refuse denies an annotation that is neither true nor false, and one on an object whose ID
// was generated for it: nothing else can exist under that ID. A stored annotation is not
// validated again.
func (m *Mark) Refuse() *review.Denial {
	words := wordsOf[m.Req.Kind.Kind]
	if mark := m.New.Annotations[v1beta1.AnnotationAdopt]; mark != "" && mark != "true" && mark != "false" &&
		(m.Old == nil || mark != m.Old.Annotations[v1beta1.AnnotationAdopt]) {
		return review.Invalid("InvalidMark", markField, "it is neither \"true\" nor \"false\", and %s", words.would).
			Remedy("write \"true\" to adopt what is at the broker, or leave the annotation out")
	}
	switch {
	case m.Dedicated && Marked(m.New) && (m.Old == nil || !Marked(m.Old)):
		return review.Invalid("NothingToAdopt", markField, "the binding gets a new instance of its own, to which the broker has no binding").
			Remedy("leave the annotation out").
			Remedy("or adopt the instance first, and name it: spec.instanceRef.name")
	case !Marked(m.New) || m.Id == "" || m.Id != m.New.Annotations[v1beta1.AnnotationMintedExternalID]:
		return nil
	case m.Old == nil:
		return m.withoutID(words)
	case !Marked(m.Old):
		return m.minted(words)
	}
	return nil
}

// withoutID denies the annotation on a new object that does not say which it is.
func (m *Mark) withoutID(words markWords) *review.Denial {
	return review.Invalid("NothingToAdopt", markField, "it says that the %s is at its broker already, and spec.externalID does not say which it is", words.noun).
		Remedy("say which: "+words.say, review.NameOf(m.Req), m.Req.Namespace).
		Remedy("or write its ID into spec.externalID of the manifest: kubectl explain service%s.spec.externalID", words.noun).
		Remedy("or leave the annotation out: then %s", words.then)
}

// minted denies the annotation on an object that was made here.
func (m *Mark) minted(words markWords) *review.Denial {
	return review.Invalid("NothingToAdopt", markField, "its ID at the broker was made for it: there is nothing under it that could be adopted").
		Remedy("leave the annotation out").
		Remedy("to adopt another, make another: "+words.sayAnother, m.Req.Namespace)
}
