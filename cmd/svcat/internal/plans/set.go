package plans

import (
	"github.com/spf13/cobra"

	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/complete"
)

// NewSet returns the command `svcat set`.
func NewSet(env *cli.Env) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "set",
		Short:   "Set the defaults of a class or plan, and which plan is the default",
		Example: "  svcat set plan azure-mysql/premium-p1 --default\n  svcat set class azure-mysql --provision-params '{location: eastus}'",
		Args:    onlyCommands("class", "plan"),
		RunE:    sayWhich("class", "plan"),
	}
	cmd.AddCommand(newSetClass(env), newSetPlan(env))
	return cmd
}

const aboutFields = `A flag that is given replaces its field whole; null clears it. Values are JSON or
YAML: inline, @FILE, or - for standard input. All fields are written in one write.
What readers of YAML differ about (yes, 012, <<), and numbers that the API server would
round, are refused.

A name that stands for something both in the current namespace and in the cluster needs
--namespace or --cluster. Who applies a field from elsewhere, such as helm, is warned of
at the first write: from then on the field is svcat's, until the other applies it again.`

func newSetClass(env *cli.Env) *cobra.Command {
	s := &setting{env: env}
	cmd := &cobra.Command{
		Use:     "class NAME",
		Aliases: cli.Aliases("class"),
		Short:   "Set the type and the defaults of a class",
		Long:    "Set the type and the defaults of a class.\n\n" + aboutFields,
		Example: `  # What instances of the class get that do not say otherwise
  svcat set class azure-mysql --provision-params '{location: eastus, resourceGroup: default}'
  # From files; the class stands for the type mysql from now on
  svcat set class azure-mysql --type mysql --provision-params @provision.yaml --secret-transform @transforms.yaml
  # No default parameters for bindings
  svcat set class azure-mysql --bind-params null`,
		Args:              oneName,
		ValidArgsFunction: complete.Classes(env),
		RunE: func(cmd *cobra.Command, args []string) error {
			return s.class(cmd, args[0])
		},
	}
	s.bind(cmd, false)
	return cmd
}

func newSetPlan(env *cli.Env) *cobra.Command {
	s := &setting{env: env}
	cmd := &cobra.Command{
		Use:     "plan NAME|CLASS/NAME",
		Aliases: cli.Aliases("plan"),
		Short:   "Set the defaults of a plan, or make it the default of its type",
		Long: `Set the type, the defaults and the weight of a plan, or make it the default of its
type, in the cluster or in its namespace.

` + aboutFields + `

--default switches: one write of the type's record, with no moment without a default.
Then this plan is annotated; the keeper takes the other's annotation off, which means
nothing meanwhile. The lines that it prints are true of that one write. If another
switch came before the annotation, that is told, and the exit code is 0 all the same.
With other flags, --default comes last and --default=false first: a plan becomes the
default as it is to be, and if a step is refused, those that came before stand.`,
		Example: `  # Instances that only say serviceType: mysql get this plan
  svcat set plan azure-mysql/premium-p1 --default
  # The type has no default any more
  svcat set plan azure-mysql/premium-p1 --default=false
  # Several at once; null takes a default away
  svcat set plan premium-p1 --class azure-mysql --provision-params @params.yaml --bind-params null --weight 10
  # What would happen?
  svcat set plan premium-p1 --default --dry-run=server`,
		Args:              oneName,
		ValidArgsFunction: complete.Plans(env),
		RunE: func(cmd *cobra.Command, args []string) error {
			return s.plan(cmd, args[0])
		},
	}
	s.bind(cmd, true)
	cmd.Flags().BoolVar(&s.isDefault, "default", false, "Make it the default plan of its type; with =false, no longer")
	cmd.Flags().StringVarP(&s.ofClass, "class", "c", "", "The class that the plan is of")
	complete.Flags(cmd, map[string]complete.Func{"class": complete.Classes(env), "default": complete.Words("true", "false")})
	return cmd
}
