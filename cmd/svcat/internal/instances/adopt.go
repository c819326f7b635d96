package instances

import (
	"github.com/spf13/cobra"

	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
)

// NewAdopt returns the command `svcat adopt`: provision of what is at its broker already.
func NewAdopt(env *cli.Env) *cobra.Command {
	p := &provision{env: env, adopts: true}
	cmd := &cobra.Command{
		Use:   "adopt NAME --external-id ID (--type TYPE | --class CLASS [--plan PLAN] | --selector LABELS)",
		Short: "Take over an instance that is at its broker already",
		Long: `Take over an instance that is at its broker already, under the ID that it has there,
and print it as it was decided on. Nothing is made, and nothing is changed: the broker
is asked what it has, and that is compared with class, plan and the parameters that are
given here; those that are not given are not compared, and no default is added. Where
anything differs, the instance fails and says in what. A broker that cannot be asked is
not: then the instance is taken on trust, and says so.

It requires the verb adopt, because the ID of a database gives access to the database.
What was adopted stays at its broker when the instance is deleted.`,
		Example: `  svcat adopt invoices --external-id 6f0b8b7e-6c1c-4d2b-9a55-1f0c3f9f2f11 --class azure-mysql --plan basic50
  svcat adopt invoices --external-id 6f0b8b7e-6c1c-4d2b-9a55-1f0c3f9f2f11 --plan azure-mysql/basic50 -p location=westus --wait

  # what another cluster, or namespace, let go before
  svcat deprovision invoices --abandon --yes -n old
  svcat adopt invoices --external-id 6f0b8b7e-6c1c-4d2b-9a55-1f0c3f9f2f11 --plan azure-mysql/basic50 -n new`,
		Args:              cli.OneName("instance"),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE:              cli.OnName(p.run),
	}
	cmd.Flags().StringVar(&p.externalID, "external-id", "", "The ID that the instance has at its broker")
	p.bind(cmd)
	return cmd
}

// requireExternalID reports an adoption that does not say of what.
func (p *provision) requireExternalID() error {
	if p.adopts && p.externalID == "" {
		return cli.Usagef("say which instance of the broker's: --external-id ID")
	}
	return nil
}
