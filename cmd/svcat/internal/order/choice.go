package order

import (
	"context"
	"strings"

	"github.com/spf13/pflag"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/catalog"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
)

// A choice is how a person says which plan: by type, by name or by labels.
type choice struct {
	serviceType, class, plan, selector string

	kubeName bool
}

func (c *choice) bind(flags *pflag.FlagSet) {
	flags.StringVar(&c.serviceType, "type", "", "The service type, such as mysql: its default plan is taken. Beside --class or --selector it narrows them")
	flags.StringVar(&c.class, "class", "", "The class; without --plan its only or default plan is taken")
	flags.StringVar(&c.plan, "plan", "", "The plan of --class, or CLASS/PLAN")
	flags.StringVar(&c.selector, "selector", "", "Labels or attributes that the plan must have, such as 'Cores=4' or 'tier in (dev, qa)': the heaviest is taken")
	flags.BoolVarP(&c.kubeName, "kube-name", "k", false, "--class and --plan are Kubernetes names, not external ones")
}

// given says that anything was chosen.
func (c *choice) given() bool {
	return c.serviceType != "" || c.class != "" || c.plan != "" || c.selector != ""
}

// validate says what does not go together.
func (c *choice) validate() error {
	named := c.class != "" || c.plan != ""
	switch {
	case !named && c.selector == "" && c.serviceType == "":
		return cli.Usagef("say which service: --type TYPE, --class CLASS [--plan PLAN] or --selector LABELS")
	case c.kubeName && !named:
		return cli.Usagef("--kube-name says how --class and --plan are meant: give one of them")
	case named && c.selector != "":
		return cli.Usagef("--selector and --class or --plan exclude each other: give one of them (--type may stand beside either)")
	}
	_, err := c.labels()
	return err
}

// labels are those of --selector; nil: none.
func (c *choice) labels() (*metav1.LabelSelector, error) {
	if c.selector == "" {
		return nil, nil
	}
	selector, err := metav1.ParseToLabelSelector(c.selector)
	if err != nil {
		return nil, cli.Usagef("--selector: %w", err)
	}
	return selector, nil
}

// ask writes the choice into an instance's spec. Names are looked up in the
// instance's namespace, then in the cluster, and written as fields of the scope in
// which they were found.
func (c *choice) ask(ctx context.Context, env *cli.Env, namespace string, spec *v1beta1.ServiceInstanceSpec) error {
	labels, err := c.labels()
	if err != nil {
		return err
	}
	spec.ServiceType = c.serviceType
	if c.class == "" && c.plan == "" && labels == nil {
		return nil
	}
	reader, err := env.Client()
	if err != nil {
		return err
	}
	place := catalog.Place{Cluster: true, Namespaces: true, Namespace: namespace}
	if labels != nil {
		spec.PlanSelector = qualified(ctx, reader, place, labels)
		return nil
	}
	finder := catalog.Finder{Reader: reader, Place: place, KubeName: c.kubeName}
	if c.plan == "" {
		class, err := finder.Class(ctx, c.class)
		if err == nil {
			referToClass(&spec.PlanReference, class, c.kubeName || c.class != class.Spec.ExternalName)
		}
		return err
	}
	plan, err := finder.Plan(ctx, c.class, c.plan)
	if err != nil {
		return err
	}
	class, err := catalog.ClassOfPlan(ctx, reader, plan)
	if err != nil {
		return err
	}
	within, _, _ := strings.Cut(c.plan, "/")
	if c.class != "" {
		within = c.class
	}
	referToClass(&spec.PlanReference, class, c.kubeName || within == class.Object.GetName() && within != class.Spec.ExternalName)
	referToPlan(&spec.PlanReference, plan, c.kubeName || c.plan == plan.Object.GetName() && c.plan != plan.Spec.ExternalName)
	return nil
}

// referToClass names a class in its scope: by its Kubernetes name if that was
// meant, or if it has no other.
func referToClass(reference *v1beta1.PlanReference, class catalog.Class, kubeName bool) {
	external, kube := class.Spec.ExternalName, ""
	if kubeName || external == "" {
		external, kube = "", class.Object.GetName()
	}
	if class.Object.GetNamespace() == "" {
		reference.ClusterServiceClassExternalName, reference.ClusterServiceClassName = external, kube
		return
	}
	reference.ServiceClassExternalName, reference.ServiceClassName = external, kube
}

// referToPlan is as referToClass.
func referToPlan(reference *v1beta1.PlanReference, plan catalog.Plan, kubeName bool) {
	external, kube := plan.Spec.ExternalName, ""
	if kubeName || external == "" {
		external, kube = "", plan.Object.GetName()
	}
	if plan.Object.GetNamespace() == "" {
		reference.ClusterServicePlanExternalName, reference.ClusterServicePlanName = external, kube
		return
	}
	reference.ServicePlanExternalName, reference.ServicePlanName = external, kube
}
