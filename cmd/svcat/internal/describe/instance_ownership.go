package describe

import (
	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/catalog"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/printer"
)

// addOwnership adds whose an instance is, who else may bind to it, and whether its
// deletion leaves it at its broker.
func addOwnership(head *printer.Pairs, instance *v1beta1.ServiceInstance) {
	if owner, is := instance.DedicatedTo(); is {
		head.Add("Own of Binding:", owner.Name)
	}
	head.AddSet("Shared With:", catalog.SharedWith(instance.Spec.Sharing))
	head.AddSet("Adopted:", adopted(instance))
}

// adopted says what became of an instance that was at its broker before, and what
// becomes of it; empty for all others.
func adopted(instance *v1beta1.ServiceInstance) string {
	switch {
	case catalog.Stays(instance):
		return "yes, its deletion leaves it at the broker"
	case catalog.Adopted(instance):
		return "yes, and its deletion removes it at the broker"
	case catalog.Minted(instance) || instance.Status.ProvisionStatus == v1beta1.Provisioned || instance.Annotations[v1beta1.AnnotationAdopt] != "true":
		return ""
	}
	return "not yet; nothing is made"
}
