package catalog

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/defaultplan/defaultplan/api/v1beta1"
)

// An Adoption is how much of an instance or binding was at its broker before.
type Adoption int

// Whether an object was at its broker before.
const (
	// NotAdopted: what it has at the broker, it made, or it is not known yet.
	NotAdopted Adoption = iota
	// ToAdopt: it is to be adopted, and nothing is made.
	ToAdopt
	// Adopted: it was at its broker before, and no request of its own made it. Its deletion
	// leaves it there.
	Adopted
	// AdoptedAndRemoved: its deletion removes it at the broker, because its user says so.
	AdoptedAndRemoved
)

// OfInstance is the adoption of an instance.
func OfInstance(i *v1beta1.ServiceInstance) Adoption {
	return adoptionOf(i, i.Spec.ExternalID, i.Status.ProvisionStatus == v1beta1.Provisioned, i.Status.DeprovisionStatus == v1beta1.DeprovisionRequired)
}

// OfBinding is the adoption of a binding. Credentials that replaced adopted ones are its own.
func OfBinding(b *v1beta1.ServiceBinding) Adoption {
	return adoptionOf(b, b.Spec.ExternalID, b.Status.ExternalProperties != nil, b.Status.UnbindStatus == v1beta1.UnbindRequired)
}

// adoptionOf is the adoption of an object with an external ID. exists says that its broker
// has it, and made that a request of its own made it.
func adoptionOf(o metav1.Object, id string, exists, made bool) Adoption {
	annotations := o.GetAnnotations()
	switch minted := id == "" || annotations[v1beta1.AnnotationMintedExternalID] == id; {
	case minted || made:
		return NotAdopted
	case exists && annotations[v1beta1.AnnotationDeprovisionAdopted] == "true":
		return AdoptedAndRemoved
	case exists:
		return Adopted
	case annotations[v1beta1.AnnotationAdopt] == "true":
		return ToAdopt
	}
	return NotAdopted
}
