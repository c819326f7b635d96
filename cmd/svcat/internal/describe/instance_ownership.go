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
	head.AddSet("Adopted:", adoptions[catalog.OfInstance(instance)])
}

// adoptions say what became of an object that was at its broker before, and what becomes of
// it.
var adoptions = map[catalog.Adoption]string{
	catalog.ToAdopt:           "not yet; nothing is made",
	catalog.Adopted:           "yes, its deletion leaves it at the broker",
	catalog.AdoptedAndRemoved: "yes, and its deletion removes it at the broker",
}
