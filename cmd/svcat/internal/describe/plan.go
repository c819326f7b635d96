package describe

import (
	"cmp"
	"context"
	"io"
	"slices"
	"strconv"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/catalog"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/complete"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/table"
)

// planFlags are those of `describe plan`.
type planFlags struct {
	place                 cli.PlaceFlags
	class                 string
	kubeName, showSchemas bool
}

func newPlan(env *cli.Env) *cobra.Command {
	var f planFlags
	cmd := &cobra.Command{
		Use:     "plan NAME | CLASS/PLAN",
		Aliases: []string{"plans", "pl"},
		Short:   "Show a plan with its defaults, instances and schemas",
		Example: `  svcat describe plan azure-mysql/premium-p1
  svcat describe plan premium-p1 --show-schemas=false
  svcat describe plan --kube-name f9a3cc8e-a6e2-474d-b032-9837ea3dfcaa`,
		Args:              onePlan,
		ValidArgsFunction: complete.Plans(env),
		RunE:              func(cmd *cobra.Command, args []string) error { return f.run(cmd.Context(), env, args[0]) },
	}
	bindPlace(cmd, &f.place)
	flags := cmd.Flags()
	flags.StringVarP(&f.class, "class", "c", "", "The class that NAME is a plan of")
	flags.BoolVarP(&f.kubeName, "kube-name", "k", false, "Take names for Kubernetes names, not for external ones")
	flags.BoolVar(&f.showSchemas, "show-schemas", true, "Show the JSON schemas of its parameters")
	_ = cmd.RegisterFlagCompletionFunc("class", complete.Classes(env))
	return cmd
}

func (f *planFlags) run(ctx context.Context, env *cli.Env, name string) error {
	at, err := f.place.Nearest(env)
	if err != nil {
		return err
	}
	c, err := env.Client()
	if err != nil {
		return err
	}
	plan, err := catalog.Finder{Reader: c, Place: at, KubeName: f.kubeName}.Plan(ctx, f.class, name)
	if err != nil {
		return err
	}
	if err := describePlan(ctx, c, env.Out, plan); err != nil {
		return err
	}
	namespace, _, err := env.Namespace()
	if err != nil {
		return err
	}
	if err := writeInstances(ctx, c, env.Out, plan, namespace); err != nil || !f.showSchemas {
		return err
	}
	return writeSchemas(env.Out, plan.Spec)
}

func describePlan(ctx context.Context, reader client.Reader, w io.Writer, plan catalog.Plan) error {
	class, err := catalog.ClassOfPlan(ctx, reader, plan)
	className, serviceType := plan.ClassName+" (absent)", plan.Spec.ServiceType
	switch {
	case err == nil:
		className, serviceType = class.Title(), cmp.Or(serviceType, class.Spec.ServiceType)
	case !apierrors.IsNotFound(err):
		return err
	}
	standing, err := catalog.StandingOf(ctx, reader, plan.Object.GetNamespace(), serviceType)
	if err != nil {
		return err
	}
	rule, stands := standing[refOf(plan.Object)]
	var head table.Pairs
	head.Add("Name:", plan.Title())
	addScope(&head, plan.Object, plan.Origin(), plan.Broker)
	head.Add("Type:", serviceType)
	head.Add("Default:", truth(stands && !catalog.IsSuggestion(rule)))
	annotated := plan.PlanEntry()
	if serviceType == "" && annotated.Default {
		head.Add("Class Default:", "true")
	}
	switch {
	case stands && catalog.IsSuggestion(rule):
		head.Add("Suggested:", "true, and chosen while the type has no default")
	case annotated.Suggested:
		head.Add("Suggested:", "true")
	}
	head.Add("Class:", className)
	head.Add("Description:", plan.Spec.Description)
	head.Add("Kubernetes Name:", plan.Object.GetName())
	head.Add("Status:", plan.State())
	head.Add("Free:", truth(plan.Spec.Free))
	head.AddSet("Attributes:", plan.Attributes())
	if plan.Spec.Weight != 0 {
		head.Add("Weight:", strconv.Itoa(int(plan.Spec.Weight)))
	}
	if err := head.Write(w); err != nil {
		return err
	}
	return writeOfferDefaults(w, &plan.Spec.Defaults)
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
	if err := writeHeading(w, heading); err != nil {
		return err
	}
	if t.Len() == 0 {
		return writeText(w, "No instances defined\n")
	}
	return t.Write(w)
}

func instances(ctx context.Context, reader client.Reader, options ...client.ListOption) (*table.Table, error) {
	var rows [][]string
	err := catalog.Pages(ctx, reader, &v1beta1.ServiceInstanceList{}, func(object runtime.Object) error {
		if instance, ok := object.(*v1beta1.ServiceInstance); ok {
			status := cmp.Or(v1beta1.LastConditionState(instance.Status.Conditions), pending)
			rows = append(rows, []string{instance.Name, instance.Namespace, status})
		}
		return nil
	}, options...)
	slices.SortFunc(rows, slices.Compare)
	t := table.New("name", "namespace", "status")
	for _, row := range rows {
		t.Add(row...)
	}
	return t, err
}

func writeSchemas(w io.Writer, spec *v1beta1.CommonServicePlanSpec) error {
	for _, schema := range []struct {
		heading string
		raw     *runtime.RawExtension
	}{
		{"Instance Create Parameter Schema", spec.InstanceCreateParameterSchema},
		{"Instance Update Parameter Schema", spec.InstanceUpdateParameterSchema},
		{"Binding Create Parameter Schema", spec.ServiceBindingCreateParameterSchema},
	} {
		if err := writeDefaults(w, schema.heading, schema.raw); err != nil {
			return err
		}
	}
	return nil
}
