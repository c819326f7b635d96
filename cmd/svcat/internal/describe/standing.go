package describe

import (
	"io"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/catalog"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/printer"
	"github.com/defaultplan/defaultplan/merge"
)

// standing adds whose an instance is, who else may bind to it, and whether its
// deletion leaves it at its broker.
func standing(head *printer.Pairs, instance *v1beta1.ServiceInstance) {
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

// writeProvision writes the parameters that the instance of a binding's own gets;
// nothing where there are none.
func writeProvision(w io.Writer, binding *v1beta1.ServiceBinding) error {
	values, err := decoded(binding.Spec.ProvisionParameters)
	if err != nil {
		return err
	}
	if record := applied(binding.Annotations).Provision; record != nil {
		values = merge.Without(values, pointers(record.Removed))
	}
	if !binding.Dedicated() || len(values) == 0 {
		return nil
	}
	if err := writeHeading(w, "Parameters of its own instance"); err != nil {
		return err
	}
	return writeYAML(w, values, false, "")
}
