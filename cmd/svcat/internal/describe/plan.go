package describe

import (
	"cmp"
	"context"
	"io"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/catalog"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/complete"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/printer"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/termtext"
	"github.com/defaultplan/defaultplan/resolve"
)

// planFlags are those of `describe plan`.
type planFlags struct {
	scope                 cli.ScopeFlags
	class                 string
	kubeName, showSchemas bool
}

func newPlan(env *cli.Env) *cobra.Command {
	var f planFlags
	cmd := &cobra.Command{
		Use:     "plan NAME | CLASS/PLAN",
		Aliases: cli.Aliases("plan"),
		Short:   "Show a plan with its defaults, instances and schemas",
		Example: `  svcat describe plan azure-mysql/premium-p1
  svcat describe plan premium-p1 --show-schemas=false
  svcat describe plan --kube-name f9a3cc8e-a6e2-474d-b032-9837ea3dfcaa`,
		Args:              onePlan,
		ValidArgsFunction: complete.Plans(env),
		RunE: described(env, f.scope.Nearest, func(finder catalog.Finder, ctx context.Context, name string) (catalog.Plan, error) {
			finder.KubeName = f.kubeName
			return finder.Plan(ctx, f.class, name)
		}, func(ctx context.Context, reader client.Reader, w io.Writer, plan catalog.Plan) error {
			return f.describe(ctx, env, reader, w, plan)
		}),
	}
	bindScope(cmd, &f.scope)
	flags := cmd.Flags()
	flags.StringVarP(&f.class, "class", "c", "", "The class that NAME is a plan of")
	flags.BoolVarP(&f.kubeName, "kube-name", "k", false, "Take names for Kubernetes names, not for external ones")
	flags.BoolVar(&f.showSchemas, "show-schemas", true, "Show the JSON schemas of its parameters")
	_ = cmd.RegisterFlagCompletionFunc("class", complete.Classes(env))
	return cmd
}

func (f *planFlags) describe(ctx context.Context, env *cli.Env, reader client.Reader, w io.Writer, plan catalog.Plan) error {
	if err := describePlan(ctx, reader, w, plan); err != nil {
		return err
	}
	namespace, _, err := env.Namespace()
	if err != nil {
		return err
	}
	if err := writeInstances(ctx, reader, w, plan, namespace); err != nil || !f.showSchemas {
		return err
	}
	return writeSchemas(w, plan.Spec)
}

func describePlan(ctx context.Context, reader client.Reader, w io.Writer, plan catalog.Plan) error {
	class, err := catalog.ClassOfPlan(ctx, reader, plan)
	className, serviceType := plan.ClassName+" (absent)", plan.Spec.ServiceType
	annotated := plan.PlanEntry()
	never := resolve.WhyGone(nil, &annotated)
	switch {
	case err == nil:
		className, serviceType = class.Title(), cmp.Or(serviceType, class.Spec.ServiceType)
		never = resolve.WhyGone(new(class.ClassEntry()), &annotated)
	case !apierrors.IsNotFound(err):
		return err
	}
	effective, err := catalog.EffectivePlansOf(ctx, reader, plan.Object.GetNamespace(), serviceType)
	if err != nil {
		return err
	}
	rule, isEffective := effective[plan.Ref()]
	var head printer.Pairs
	head.Add("Name:", plan.Title())
	addScope(&head, plan.Object, plan.Origin(), plan.Broker)
	head.Add("Type:", serviceType)
	head.Add("Default:", strconv.FormatBool(isEffective && !catalog.IsSuggestion(rule)))
	addMarks(&head, &annotated, serviceType, isEffective && catalog.IsSuggestion(rule))
	head.Add("Class:", className)
	head.Add("Description:", plan.Spec.Description)
	head.Add("Kubernetes Name:", plan.Object.GetName())
	head.Add("Status:", plan.State())
	if never != "" {
		head.Add("Never Chosen:", "it is "+never)
	}
	head.Add("Free:", strconv.FormatBool(plan.Spec.Free))
	head.AddSet("Costs:", strings.Join(catalog.Costs(&plan), ", "))
	head.AddSet("Malformed Costs:", termtext.Line(plan.Status.MalformedCosts))
	head.AddSet("Attributes:", plan.Attributes())
	if plan.Spec.Weight != 0 {
		head.Add("Weight:", strconv.Itoa(int(plan.Spec.Weight)))
	}
	return cli.InOrder(
		func() error { return head.Write(w) },
		func() error { return writeConditions(w, plan.Status.Conditions) },
		func() error { return writeOfferDefaults(w, &plan.Spec.Defaults) },
	)
}

// addMarks adds what the annotations of a plan say that its rule does not.
func addMarks(head *printer.Pairs, plan *resolve.PlanEntry, serviceType string, isSuggestion bool) {
	if serviceType == "" && plan.Default {
		head.Add("Class Default:", "true")
	}
	switch {
	case isSuggestion:
		head.Add("Suggested:", "true, and chosen while the type has no default")
	case plan.Suggested:
		head.Add("Suggested:", "true")
	}
}

// writeInstances writes the instances of a plan: those of every namespace, or of the
// current one where the user may not see more.
func writeInstances(ctx context.Context, reader client.Reader, w io.Writer, plan catalog.Plan, current string) error {
	field, within := v1beta1.FieldServicePlanRefName, plan.Object.GetNamespace()
	if within == "" {
		field = v1beta1.FieldClusterServicePlanRefName
	}
	named := client.MatchingFields{field: plan.Object.GetName()}
	heading := "Instances"
	t, err := instances(ctx, reader, client.InNamespace(within), named)
	if apierrors.IsForbidden(err) && within == "" {
		heading = "Instances of namespace " + current + " (you may not list those of others)"
		t, err = instances(ctx, reader, client.InNamespace(current), named)
	}
	if err != nil {
		return err
	}
	return writeTable(w, heading, t, "No instances defined")
}

func instances(ctx context.Context, reader client.Reader, options ...client.ListOption) (*printer.Table, error) {
	var rows [][]string
	err := catalog.Pages(ctx, reader, &v1beta1.ServiceInstanceList{}, func(object runtime.Object) error {
		if instance, ok := object.(*v1beta1.ServiceInstance); ok {
			status := catalog.Status(instance.Status.Conditions)
			rows = append(rows, []string{instance.Name, instance.Namespace, status})
		}
		return nil
	}, options...)
	return sortedTable(rows, "name", "namespace", "status"), err
}

func writeSchemas(w io.Writer, spec *v1beta1.CommonServicePlanSpec) error {
	return cli.InOrder(
		func() error {
			return writeDefaults(w, "Instance Create Parameter Schema", spec.InstanceCreateParameterSchema)
		},
		func() error {
			return writeDefaults(w, "Instance Update Parameter Schema", spec.InstanceUpdateParameterSchema)
		},
		func() error {
			return writeDefaults(w, "Binding Create Parameter Schema", spec.ServiceBindingCreateParameterSchema)
		},
	)
}
