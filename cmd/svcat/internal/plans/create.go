package plans

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/cmd/svcat/internal/catalog"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/complete"
)

// NewCreate returns the command `svcat create`.
func NewCreate(env *cli.Env) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "create",
		Short:   "Create a class or plan of your own from one that there is",
		Example: "  svcat create class mysql-dev --from azure-mysql --provision-params '{location: eastus}'\n  svcat create plan tiny --from azure-mysql/basic50 --default",
		Args:    onlyCommands("class", "plan"),
		RunE:    sayWhich("class", "plan"),
	}
	cmd.AddCommand(newCreateClass(env), newCreatePlan(env))
	return cmd
}

const aboutCopies = `The copy is yours: no relist of the broker changes it. It has the spec of the original
with its external ID, which is what the broker is sent; NAME is its external and its
Kubernetes name. Whether the original is a default or suggested is not copied.

A name that stands for something both in the current namespace and in the cluster needs
--namespace, --cluster or --scope. With --scope namespace, what the whole cluster has is copied into a namespace, which
takes the right to use its broker there.`

func newCreateClass(env *cli.Env) *cobra.Command {
	c := &creation{env: env, kind: "class"}
	cmd := &cobra.Command{
		Use:     "class NAME --from EXISTING",
		Aliases: cli.Aliases("class"),
		Short:   "Copy a class with its plans",
		Long: "Copy a class with its plans.\n\n" + aboutCopies + `

Its plans are copied, too, as NAME/PLAN. They are created before the class, so that
users never choose among half of them; if one is denied, or at Ctrl-C, those created
before are deleted again. Creations without an answer are reported.`,
		Example: `  # The same service with other defaults
  svcat create class mysql-dev --from azure-mysql --type mysql --provision-params '{location: eastus}'
  # For one namespace
  svcat create class mysql --from azure-mysql --scope namespace -n dev
  # What would be created, as manifests
  svcat create class mysql-dev --from azure-mysql --dry-run=client -o yaml`,
		Args: oneName, ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error { return c.class(cmd, args[0]) },
	}
	c.bind(cmd)
	cmd.Flags().BoolVar(&c.noPlans, "no-plans", false, "Leave its plans out")
	cmd.Flags().BoolVar(&c.isDefault, "default", false, "Make the plan that comes with it the default of its type; for a class with one plan")
	complete.Flags(cmd, map[string]complete.Func{"from": complete.Classes(env)})
	return cmd
}

func newCreatePlan(env *cli.Env) *cobra.Command {
	c := &creation{env: env, kind: "plan"}
	cmd := &cobra.Command{
		Use:     "plan NAME --from EXISTING|CLASS/EXISTING",
		Aliases: cli.Aliases("plan"),
		Short:   "Copy a plan",
		Long:    "Copy a plan.\n\n" + aboutCopies + "\n\nIf --default is refused, the plan stands, and is not the default.",
		Example: `  # The default of its type from now on, with other defaults
  svcat create plan tiny --from azure-mysql/basic50 --provision-params '{size: 1}' --default
  # In a copy of the class
  svcat create plan tiny --from azure-mysql/basic50 --class mysql-dev`,
		Args: oneName, ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error { return c.plan(cmd, args[0]) },
	}
	c.bind(cmd)
	cmd.Flags().BoolVar(&c.isDefault, "default", false, "Make it the default plan of its type, as set plan --default does")
	cmd.Flags().StringVarP(&c.intoClass, "class", "c", "", "The class that the copy is of; as the original if it is not given")
	complete.Flags(cmd, map[string]complete.Func{"from": complete.Plans(env), "class": complete.Classes(env)})
	return cmd
}

// A creation is one run of create.
type creation struct {
	env    *cli.Env
	kind   string
	fields fieldFlags
	writes cli.WriteFlags

	from, scope, intoClass       string
	cluster, kubeName            bool
	noPlans, isDefault, isRetype bool

	edits  []*edit
	client client.Client
	// finder looks where the original is looked for.
	finder catalog.Finder
	// loose says that no flag names the scope of the original.
	loose bool
	// namespace is the current one.
	namespace string
}

func (c *creation) bind(cmd *cobra.Command) {
	c.fields.bind(c.env, cmd, c.kind == "plan")
	c.writes.Bind(cmd.Flags())
	cmd.Flags().StringVarP(&c.from, "from", "f", "", "The "+c.kind+" to copy")
	cmd.Flags().StringVar(&c.scope, "scope", "", "Where the copy is for: cluster or namespace; as the original if it is not given")
	cmd.Flags().BoolVar(&c.cluster, "cluster", false, "Look for the original in the cluster only")
	cmd.Flags().BoolVarP(&c.kubeName, "kube-name", "k", false, "EXISTING is the Kubernetes name")
	complete.Flags(cmd, map[string]complete.Func{"scope": complete.Words("cluster", "namespace")})
}

// begin validates the command line and connects.
func (c *creation) begin(cmd *cobra.Command, name string) (err error) {
	if err := c.writes.Validate(); err != nil {
		return err
	}
	if c.from == "" {
		return cli.Usagef("--from is missing: the %s to copy; see %s --help", c.kind, cmd.CommandPath())
	}
	if why := unlawful(name); why != "" {
		return cli.Usagef("%q cannot be the name of a %s: %s", name, c.kind, why)
	}
	if c.scope != "" && c.scope != "cluster" && c.scope != "namespace" {
		return cli.Usagef("--scope is %q; allowed are cluster and namespace", c.scope)
	}
	if c.edits, err = c.fields.edits(cmd, c.env.In); err != nil {
		return err
	}
	c.isRetype = retyped(c.edits)
	namespace, given, err := c.env.Namespace()
	if err != nil {
		return err
	}
	c.namespace, c.loose = namespace, !given && !c.cluster && c.scope == ""
	// With --scope cluster, what a namespace has is looked at only if it is named.
	scope := cli.Scope{Cluster: true, Namespaces: !c.cluster && (c.scope != "cluster" || given), Namespace: namespace}
	if c.client, err = c.env.Client(); err != nil {
		return err
	}
	c.finder = catalog.Finder{Reader: c.client, Scope: scope, KubeName: c.kubeName}
	return nil
}

// into is the namespace that a copy goes to, empty for the cluster.
func (c *creation) into(from client.Object, broker string, ofCluster bool) (string, error) {
	if c.scope == "namespace" {
		return c.namespace, nil
	}
	if c.scope == "cluster" && from.GetNamespace() != "" && !ofCluster {
		return "", fmt.Errorf("%s %s is of broker %s, which namespace %s has alone: it cannot be copied to the cluster", c.kind, from.GetName(), broker, from.GetNamespace())
	}
	if c.scope == "cluster" {
		return "", nil
	}
	return from.GetNamespace(), nil
}

// switchTo makes a plan that was just created the default.
func (c *creation) switchTo(ctx context.Context, plan catalog.Plan, title string) error {
	change := &Switch{Env: c.env, Client: c.client, Writes: &c.writes, untold: c.writes.Sends() && !c.writes.Stores()}
	err := change.To(ctx, plan)
	if err != nil && c.writes.Stores() {
		warnf(c.env, "%s was created, but is not the default; to make it so: svcat set plan %s --default%s", title, title, cli.NamespaceFlag(plan.Object.GetNamespace()))
	}
	return err
}

// print prints what was created, if -o asks for it, in the order of creation; the first
// is the plan that became the default, if one did.
func (c *creation) print(ctx context.Context, objects []client.Object) (err error) {
	if c.writes.Output == "" {
		return nil
	}
	if c.isDefault {
		if objects[0], err = switched(ctx, c.client, &c.writes, objects[0], true); err != nil {
			return err
		}
	}
	for i, object := range objects {
		if i > 0 && c.writes.Output == "yaml" {
			if _, err := fmt.Fprintln(c.env.Out, "---"); err != nil {
				return err
			}
		}
		if err := c.writes.Print(c.env, object); err != nil {
			return err
		}
	}
	return nil
}

// titlesOf are plans by the names that people call them, sorted.
func titlesOf(plans []catalog.Plan) string {
	names := make([]string, len(plans))
	for i, plan := range plans {
		names[i] = plan.Title()
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}
