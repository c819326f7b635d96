package describe

import (
	"cmp"
	"context"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/cmd/svcat/internal/catalog"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/complete"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/printer"
	"github.com/defaultplan/defaultplan/resolve"
)

func newClass(env *cli.Env) *cobra.Command {
	var scope cli.ScopeFlags
	var kubeName bool
	cmd := &cobra.Command{
		Use:     "class NAME",
		Aliases: cli.Aliases("class"),
		Short:   "Show a class with its defaults and plans",
		Example: `  svcat describe class azure-mysql
  svcat describe class postgres-dev --cluster
  svcat describe class --kube-name 997b8372-8dac-40ac-ae65-758b4a5075a5`,
		Args:              oneName,
		ValidArgsFunction: complete.Classes(env),
		RunE: described(env, scope.Nearest, func(finder catalog.Finder, ctx context.Context, name string) (catalog.Class, error) {
			finder.KubeName = kubeName
			return finder.Class(ctx, name)
		}, describeClass),
	}
	bindScope(cmd, &scope)
	cmd.Flags().BoolVarP(&kubeName, "kube-name", "k", false, "Take NAME for the Kubernetes name, not for the external one")
	return cmd
}

func describeClass(ctx context.Context, reader client.Reader, w io.Writer, class catalog.Class) error {
	plans, err := catalog.PlansOf(ctx, reader, class)
	if err != nil {
		return err
	}
	var types []string
	for _, plan := range plans {
		types = append(types, cmp.Or(plan.Spec.ServiceType, class.Spec.ServiceType))
	}
	slices.Sort(types)
	effective, err := catalog.EffectivePlansOf(ctx, reader, class.Object.GetNamespace(), slices.Compact(types)...)
	if err != nil {
		return err
	}
	var head printer.Pairs
	head.Add("Name:", class.Title())
	addScope(&head, class.Object, class.Origin(), class.Broker)
	head.Add("Type:", class.Spec.ServiceType)
	head.Add("Description:", class.Spec.Description)
	head.Add("Kubernetes Name:", class.Object.GetName())
	head.Add("Status:", class.State())
	head.Add("Tags:", strings.Join(class.Spec.Tags, ", "))
	head.Add("Bindable:", strconv.FormatBool(class.Spec.Bindable))
	return cli.InOrder(
		func() error { return head.Write(w) },
		func() error { return writeConditions(w, class.Status.Conditions) },
		func() error { return writeOfferDefaults(w, &class.Spec.Defaults) },
		func() error { return writePlans(w, class, plans, effective) },
	)
}

// addScope says who made an offer, in the proposal's words, and where it is.
func addScope(head *printer.Pairs, object client.Object, origin catalog.Origin, broker string) {
	head.Add("Scope:", string(origin))
	head.AddSet("Namespace:", object.GetNamespace())
	head.AddSet("Broker:", broker)
}

// writePlans writes the plans of a class, with a star where a plan is effective.
func writePlans(w io.Writer, class catalog.Class, plans []catalog.Plan, effective map[resolve.Ref]resolve.Rule) error {
	slices.SortFunc(plans, func(a, b catalog.Plan) int {
		return cmp.Or(cmp.Compare(a.Title(), b.Title()), cmp.Compare(a.Object.GetName(), b.Object.GetName()))
	})
	t := printer.New("type", "name", "description")
	for _, plan := range plans {
		serviceType := cmp.Or(plan.Spec.ServiceType, class.Spec.ServiceType)
		if _, is := effective[plan.Ref()]; is {
			serviceType += "*"
		}
		t.Add(serviceType, plan.Title(), plan.Spec.Description)
	}
	return writeTable(w, "Plans", t, "No plans defined")
}
