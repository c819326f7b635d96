package describe

import (
	"cmp"
	"io"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/catalog"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/printer"
	"github.com/defaultplan/defaultplan/merge"
)

// WriteInstance writes what an instance is, from its name to its plan, and its
// final parameters: what provision prints too. It reads nothing but the instance.
func WriteInstance(w io.Writer, instance *v1beta1.ServiceInstance) error {
	class, plan := catalog.ClassAndPlan(instance)
	return writeInstance(w, instance, class, plan, nil)
}

// writeInstance is WriteInstance with the names of class and plan, and with what extra
// adds to the head.
func writeInstance(w io.Writer, instance *v1beta1.ServiceInstance, class, plan string, extra func(*printer.Pairs)) error {
	var head printer.Pairs
	head.Add("Name:", instance.Name)
	head.Add("Namespace:", instance.Namespace)
	head.Add("Status:", cmp.Or(fullStatus(instance.Status.Conditions), waiting(instance.Spec.Decided())))
	if url := instance.Status.DashboardURL; url != nil {
		head.AddSet("DashboardURL:", *url)
	}
	head.AddSet("Type:", instance.Type())
	head.Add("Class:", class)
	head.Add("Plan:", plan)
	if extra != nil {
		extra(&head)
	}
	if err := head.Write(w); err != nil {
		return err
	}
	return writeParameters(w, instance.Spec.Parameters, instance.Spec.ParametersFrom, applied(instance.Annotations).Removed)
}

// WriteBinding is as WriteInstance, for a binding. instance is what it is bound to;
// without it (nil), the type is only known where the binding says it.
func WriteBinding(w io.Writer, binding *v1beta1.ServiceBinding, instance *v1beta1.ServiceInstance) error {
	return writeBinding(w, binding, instance, nil)
}

func writeBinding(w io.Writer, binding *v1beta1.ServiceBinding, instance *v1beta1.ServiceInstance, extra func(*printer.Pairs)) error {
	var head printer.Pairs
	head.Add("Name:", binding.Name)
	head.Add("Namespace:", binding.Namespace)
	head.Add("Status:", cmp.Or(fullStatus(binding.Status.Conditions), waiting(true)))
	serviceType := binding.Type()
	if instance != nil {
		serviceType = cmp.Or(serviceType, instance.Type())
	}
	head.AddSet("Type:", serviceType)
	if record := applied(binding.Annotations); binding.Dedicated() && record.Plan != "" {
		head.Add("Plan:", record.Class+"/"+record.Plan)
	}
	head.Add("Instance:", cmp.Or(catalog.InstanceTitle(binding), "one of its own, not made yet"))
	head.Add("Secret:", cmp.Or(binding.Spec.SecretName, binding.Name))
	if extra != nil {
		extra(&head)
	}
	return cli.InOrder(
		func() error { return head.Write(w) },
		func() error {
			return writeParameters(w, binding.Spec.Parameters, binding.Spec.ParametersFrom, applied(binding.Annotations).Removed)
		},
		func() error { return writeProvision(w, binding) },
	)
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

// applied is what admission recorded of its choice; nothing where it did not.
func applied(annotations map[string]string) v1beta1.AppliedDefaults {
	record, _ := v1beta1.ParseAppliedDefaults(annotations[v1beta1.AnnotationAppliedDefaults])
	return record
}
