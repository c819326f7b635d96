package main

import (
	"errors"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/defaultplan/defaultplan/cmd/svcat/internal/about"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/bindings"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/brokers"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/complete"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/describe"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/diff"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/doctor"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/explain"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/export"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/get"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/importing"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/instances"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/plans"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/render"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/simulate"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/snapshot"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/tree"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/ui"
)

// newRoot puts all commands together. called is the path of the binary: kubectl
// calls its plugins kubectl-NAME.
func newRoot(env *cli.Env, called string) (*cobra.Command, error) {
	root := &cobra.Command{
		Use:   "svcat",
		Short: "Services by type: see, choose, order and explain them",
		Example: `  # What can be ordered here, and what an instance that only names a type gets
  svcat marketplace
  svcat get plans --default

  # A database: order it, and get its credentials as a Secret
  svcat provision shop-db --type mysql --wait
  svcat bind shop-db --wait`,
		// Errors are told once, by main.
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.SetIn(env.In)
	root.SetOut(env.Out)
	root.SetErr(env.ErrOut)
	root.SetFlagErrorFunc(flagError)
	env.Bind(root.PersistentFlags())
	root.AddGroup(groups...)
	for group, commands := range commandsOf(env) {
		for _, command := range commands {
			command.GroupID = group
			root.AddCommand(command)
		}
	}
	root.SetHelpCommandGroupID("self")
	root.SetCompletionCommandGroupID("self")
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	strict(root)
	if strings.HasPrefix(filepath.Base(called), "kubectl-") {
		root.Annotations = map[string]string{cobra.CommandDisplayNameAnnotation: "kubectl svcat"}
		asPlugin(root)
	}
	return root, errors.Join(
		root.RegisterFlagCompletionFunc("namespace", complete.Namespaces(env)),
		root.RegisterFlagCompletionFunc("color", complete.Words("auto", "always", "never")),
		root.RegisterFlagCompletionFunc("context", complete.Contexts(env)),
	)
}

// groups are the headings of svcat's help.
var groups = []*cobra.Group{
	{ID: "see", Title: "See and understand:"},
	{ID: "choose", Title: "Choose, as an operator:"},
	{ID: "order", Title: "Order, as a developer:"},
	{ID: "move", Title: "Move to another cluster:"},
	{ID: "self", Title: "About svcat itself:"},
}

func commandsOf(env *cli.Env) map[string][]*cobra.Command {
	return map[string][]*cobra.Command{
		"see": {
			get.New(env), describe.New(env), get.NewMarketplace(env), ui.New(env), explain.New(env), tree.New(env), render.New(env),
			diff.New(env), simulate.New(env), snapshot.New(env), doctor.New(env),
		},
		"choose": {
			plans.NewSet(env), plans.NewCreate(env),
			brokers.NewRegister(env), brokers.NewDeregister(env), brokers.NewSync(env),
		},
		"order": {
			instances.NewProvision(env), instances.NewUpdate(env), instances.NewDeprovision(env), instances.NewAdopt(env), bindings.NewBind(env), bindings.NewUnbind(env),
			instances.NewTouch(env), instances.NewShare(env), bindings.NewRotate(env),
		},
		"move": {export.New(env), importing.New(env)},
		"self": {about.NewVersion(env), about.NewInstall(env), about.NewReference(env)},
	}
}
