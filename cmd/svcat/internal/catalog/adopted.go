package catalog

import "github.com/defaultplan/defaultplan/api/v1beta1"

// Adopted says that an instance was at its broker before, and that no request of its
// own made it.
func Adopted(instance *v1beta1.ServiceInstance) bool {
	return !Minted(instance) && instance.Status.ProvisionStatus == v1beta1.Provisioned &&
		instance.Status.DeprovisionStatus != v1beta1.DeprovisionRequired
}

// Minted says that the ID of an instance was made for it, or is still to be.
func Minted(instance *v1beta1.ServiceInstance) bool {
	id := instance.Spec.ExternalID
	return id == "" || instance.Annotations[v1beta1.AnnotationMintedExternalID] == id
}

// Stays says that the deletion of an instance leaves it at its broker.
func Stays(instance *v1beta1.ServiceInstance) bool {
	return Adopted(instance) && instance.Annotations[v1beta1.AnnotationDeprovisionAdopted] != "true"
}
