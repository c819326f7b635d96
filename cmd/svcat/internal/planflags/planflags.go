package planflags

import (
	"context"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/catalog"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/complete"
)

// Flags choose a plan: by service type, by name or by labels.
type Flags struct {
	Type, Class, Plan, Selector string

	// KubeName says that Class and Plan are Kubernetes names, not external ones.
	KubeName bool
}

// Bind adds the flags.
func (f *Flags) Bind(flags *pflag.FlagSet) {
	flags.StringVar(&f.Type, "type", "", "The service type, such as mysql: its default plan is taken. Beside --class or --selector it narrows them")
	flags.StringVar(&f.Class, "class", "", "The class; without --plan its only or default plan is taken")
	flags.StringVar(&f.Plan, "plan", "", "The plan of --class, or CLASS/PLAN")
	flags.StringVar(&f.Selector, "selector", "", "Labels or attributes that the plan must have, such as 'Cores=4' or 'tier in (dev, qa)': the heaviest is taken")
	flags.BoolVarP(&f.KubeName, "kube-name", "k", false, "--class and --plan are Kubernetes names, not external ones")
}

// Completions returns what to propose for the flags.
func Completions(env *cli.Env) map[string]complete.Func {
	return map[string]complete.Func{
		"type": complete.Types(env), "class": complete.Classes(env), "plan": complete.Plans(env), "selector": cobra.NoFileCompletions,
	}
}

// Given says that anything was chosen.
func (f *Flags) Given() bool {
	return f.Type != "" || f.Class != "" || f.Plan != "" || f.Selector != ""
}

// Validate reports flags that exclude each other, and that none was given.
func (f *Flags) Validate() error {
	named := f.Class != "" || f.Plan != ""
	switch {
	case !named && f.Selector == "" && f.Type == "":
		return cli.Usagef("say which service: --type TYPE, --class CLASS [--plan PLAN] or --selector LABELS")
	case f.KubeName && !named:
		return cli.Usagef("--kube-name says how --class and --plan are meant: give one of them")
	case named && f.Selector != "":
		return cli.Usagef("--selector and --class or --plan exclude each other: give one of them (--type may stand beside either)")
	}
	_, err := f.labels()
	return err
}

// labels parses --selector; nil: none.
func (f *Flags) labels() (*metav1.LabelSelector, error) {
	if f.Selector == "" {
		return nil, nil
	}
	selector, err := metav1.ParseToLabelSelector(f.Selector)
	if err != nil {
		return nil, cli.Usagef("--selector: %w", err)
	}
	return selector, nil
}

// Write writes the choice into an instance's spec. Names are looked up in the instance's
// namespace, then in the cluster, and written to the fields of the scope in which they
// were found.
func (f *Flags) Write(ctx context.Context, env *cli.Env, namespace string, spec *v1beta1.ServiceInstanceSpec) error {
	labels, err := f.labels()
	if err != nil {
		return err
	}
	spec.ServiceType = f.Type
	if f.Class == "" && f.Plan == "" && labels == nil {
		return nil
	}
	reader, err := env.Client()
	if err != nil {
		return err
	}
	scope := cli.Scope{Cluster: true, Namespaces: true, Namespace: namespace}
	if labels != nil {
		spec.PlanSelector = expandAttributes(ctx, reader, scope, labels)
		return nil
	}
	finder := catalog.Finder{Reader: reader, Scope: scope, KubeName: f.KubeName}
	if f.Plan == "" {
		class, err := finder.Class(ctx, f.Class)
		if err == nil {
			referToClass(&spec.PlanReference, class, f.KubeName || f.Class != class.Spec.ExternalName)
		}
		return err
	}
	plan, err := finder.Plan(ctx, f.Class, f.Plan)
	if err != nil {
		return err
	}
	class, err := catalog.ClassOfPlan(ctx, reader, plan)
	if err != nil {
		return err
	}
	within, _, _ := strings.Cut(f.Plan, "/")
	if f.Class != "" {
		within = f.Class
	}
	referToClass(&spec.PlanReference, class, f.KubeName || within == class.Object.GetName() && within != class.Spec.ExternalName)
	referToPlan(&spec.PlanReference, plan, f.KubeName || f.Plan == plan.Object.GetName() && f.Plan != plan.Spec.ExternalName)
	return nil
}

// referToClass names a class in the fields of its scope: by its Kubernetes name if that was
// given, or if it has no other.
func referToClass(reference *v1beta1.PlanReference, class catalog.Class, kubeName bool) {
	names, _ := namesIn(reference, class.Object.GetNamespace())
	names.set(class.Object, class.Spec.ExternalName, kubeName)
}

// referToPlan is as referToClass.
func referToPlan(reference *v1beta1.PlanReference, plan catalog.Plan, kubeName bool) {
	_, names := namesIn(reference, plan.Object.GetNamespace())
	names.set(plan.Object, plan.Spec.ExternalName, kubeName)
}

// names are the two fields of a PlanReference that name a class or plan.
type names struct{ external, kube *string }

// namesIn are the fields for the scope of a namespace, or of the cluster if namespace is empty.
func namesIn(reference *v1beta1.PlanReference, namespace string) (class, plan names) {
	class = v1beta1.PerScope(namespace, names{&reference.ClusterServiceClassExternalName, &reference.ClusterServiceClassName},
		names{&reference.ServiceClassExternalName, &reference.ServiceClassName})
	plan = v1beta1.PerScope(namespace, names{&reference.ClusterServicePlanExternalName, &reference.ClusterServicePlanName},
		names{&reference.ServicePlanExternalName, &reference.ServicePlanName})
	return class, plan
}

// set writes the name of an object; the other one is empty then.
func (n names) set(object v1beta1.OfferingObject, externalName string, kubeName bool) {
	*n.external, *n.kube = externalName, ""
	if kubeName || externalName == "" {
		*n.external, *n.kube = "", object.GetName()
	}
}
