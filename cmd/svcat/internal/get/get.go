// Package get has the commands that list: get and marketplace.
package get

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
)

// listed are the names of the commands below get.
var listed = []string{"brokers", "classes", "plans", "instances", "bindings", "types", "policies"}

// New returns the command `svcat get`.
func New(env *cli.Env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "get",
		Short: "List brokers, classes, plans, instances, bindings, types or policies",
		Long: `List brokers, classes, plans, instances, bindings, types or policies, or show one of
them, which may be named as KIND/NAME, as in instance/mydb.

A * behind a type marks the plan that an instance gets which asks for that type
alone: the default plan, or, while the type has none, the suggested plan. Cluster
and namespace each have their own; a namespace's default comes before the cluster's.

Without flags, what the cluster and the current namespace offer is listed;
--cluster is the cluster alone, --namespace a namespace alone, and
--all-namespaces is everything. Instances and bindings are those of one namespace,
and policies are the cluster's.

--watch goes on with the rows that change, and adds "(deleted)" to a row whose object is
gone; with -o, such as -o json, with the objects that change. On a terminal that is too
narrow, descriptions and other long texts are cut; -o wide cuts nothing.`,
		Example: `  svcat get plans
  svcat get classes --type mysql
  svcat get plans --default
  svcat get instances --all-namespaces --watch
  svcat get plans -l tier=gold --sort-by .spec.externalName
  svcat get instances -o custom-columns=NAME:.metadata.name,PLAN:.status.userSpecifiedPlanName --no-headers`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return nil
			}
			return cli.Usagef("cannot get %q;%s allowed are %s", args[0], cli.DidYouMean(args[0], listed), strings.Join(listed, ", "))
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			return cli.Usagef("say what to get: %s; see %s --help", strings.Join(listed, ", "), cmd.CommandPath())
		},
	}
	cmd.AddCommand(newBrokers(env), newClasses(env), newPlans(env), newInstances(env), newBindings(env), newTypes(env), newPolicies(env))
	return cmd
}

// atMostOneName is the rule for what is listed, or shown if it is named.
func atMostOneName(cmd *cobra.Command, args []string) error {
	if len(args) > 1 {
		return cli.Usagef("%s takes one name at most, not %d", cmd.CommandPath(), len(args))
	}
	if len(args) == 1 && args[0] == "" {
		return cli.Usagef("%s: the name is empty", cmd.CommandPath())
	}
	return nil
}

// atMostOnePlan is atMostOneName for a plan.
func atMostOnePlan(cmd *cobra.Command, args []string) error {
	if err := atMostOneName(cmd, args); err != nil || len(args) == 0 {
		return err
	}
	return cli.PlanName(args[0])
}
