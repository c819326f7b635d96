package planflags

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/pflag"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/catalog"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
)

// BindReplan adds the flags that name another plan for an instance.
func (f *Flags) BindReplan(flags *pflag.FlagSet) {
	flags.StringVar(&f.Plan, "plan", "", "Another plan of the instance's class, as PLAN or CLASS/PLAN")
	flags.BoolVarP(&f.KubeName, "kube-name", "k", false, "--plan is a Kubernetes name, not an external one")
}

// Replan has an instance name the plan of the flags, which is one of the class that was decided
// on: an instance never changes its class. It returns what that plan is called, empty if
// the instance has it, or without --plan.
func (f *Flags) Replan(ctx context.Context, reader client.Reader, instance *v1beta1.ServiceInstance) (string, error) {
	if f.Plan == "" {
		return "", nil
	}
	class, ok, err := catalog.DecidedClass(ctx, reader, &instance.Spec.DecidedReference, instance.Namespace)
	if err != nil {
		return "", err
	}
	if !ok {
		return "", fmt.Errorf("--plan: the class of instance %q is not decided, or cannot be read; see svcat explain instance/%s%s",
			instance.Name, instance.Name, cli.NamespaceFlag(instance.Namespace))
	}
	name := f.Plan
	if within, plan, split := strings.Cut(f.Plan, "/"); split {
		if within != class.Object.GetName() && (f.KubeName || within != class.Spec.ExternalName) {
			return "", cli.Usagef("--plan is of class %q, and instance %q is of class %q; an instance stays in its class: name a plan of that",
				within, instance.Name, class.Title())
		}
		name = plan
	}
	plan, err := catalog.Finder{Reader: reader, KubeName: f.KubeName}.PlanOf(ctx, class, name)
	if err != nil {
		return "", err
	}
	_, current := namesIn(&instance.Spec.PlanReference, class.Object.GetNamespace())
	instance.Spec.ClusterServicePlanExternalID, instance.Spec.ServicePlanExternalID = "", ""
	current.set(plan.Object, plan.Spec.ExternalName, f.KubeName || name == plan.Object.GetName() && name != plan.Spec.ExternalName)
	if instance.Spec.PlanSelector != nil {
		// A selector stands beside no plan; an absent one is taken for forgotten, and restored.
		instance.Spec.PlanSelector = &metav1.LabelSelector{}
	}
	if _, decided := catalog.DecidedNames(&instance.Spec.DecidedReference); decided == plan.Object.GetName() {
		return "", nil
	}
	return plan.Title(), nil
}
