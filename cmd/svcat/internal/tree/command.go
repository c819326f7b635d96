package tree

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/spf13/cobra"

	"github.com/defaultplan/defaultplan/cmd/svcat/internal/catalog"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/complete"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/target"
)

// command is svcat tree.
type command struct {
	env    *cli.Env
	output string
	all    bool
}

// New returns the command `svcat tree`.
func New(env *cli.Env) *cobra.Command {
	c := &command{env: env}
	cmd := &cobra.Command{
		Use:   "tree [KIND/NAME]",
		Short: "Show what belongs to what: instances, their plans, bindings and Secrets",
		Long: `Show what belongs to what. An instance has its plan, its bindings with their Secrets, also
those of other namespaces, and the binding whose own it is; a binding has its instance and
its Secret; a type has its default plan and the instances that ask for it. Without KIND/NAME
it is all instances of the namespace.

READY and REASON are those of the condition Ready. What you may not read is said so.`,
		Example: `  svcat tree
  svcat tree instance/mydb
  svcat tree binding/mydb
  svcat tree type/mysql

  # For a program
  svcat tree -A -o json`,
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: proposals(env),
		RunE:              func(cmd *cobra.Command, args []string) error { return c.run(cmd.Context(), args) },
	}
	cmd.Flags().StringVarP(&c.output, "output", "o", "", "Print the tree as json, for programs")
	cmd.Flags().BoolVarP(&c.all, "all-namespaces", "A", false, "Show the instances of all namespaces")
	complete.Flags(cmd, map[string]complete.Func{"output": complete.Words("json")})
	return cmd
}

// proposals are the kinds, and after KIND/ the names of that kind.
func proposals(env *cli.Env) complete.Func {
	names := map[string]complete.Func{kindInstance: complete.Instances(env), kindBinding: complete.Bindings(env), kindType: complete.Types(env)}
	return func(cmd *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		kind, name, split := strings.Cut(typed, "/")
		if !split {
			return []cobra.Completion{"binding/", "instance/", "type/"}, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
		}
		propose, known := names[kindOf(kind)]
		if !known {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		found, directive := propose(cmd, args, name)
		for i := range found {
			found[i] = kind + "/" + found[i]
		}
		return found, directive
	}
}

// kindOf is the kind that a word means, empty for one that has no tree.
func kindOf(word string) string {
	return map[string]string{"type": kindType, "instance": kindInstance, "binding": kindBinding}[cli.KindOf(word)]
}

// argument reads KIND/NAME.
func argument(text string) (kind, name string, err error) {
	word, name, split := strings.Cut(text, "/")
	kind = kindOf(word)
	switch {
	case !split || name == "" || strings.Contains(name, "/"):
		return "", "", cli.Usagef("svcat tree takes KIND/NAME, such as instance/mydb, binding/mydb or type/mysql")
	case kind == "":
		known := []string{"instance", "binding", "type"}
		return "", "", cli.Usagef("there is no tree of a %q;%s kinds: %s", word, cli.DidYouMean(word, known), strings.Join(known, ", "))
	}
	return kind, name, nil
}

func (c *command) run(ctx context.Context, args []string) error {
	if c.output != "" && c.output != "json" {
		return cli.Usagef("--output is %q; allowed is json", c.output)
	}
	if c.all && len(args) > 0 {
		return cli.Usagef("--all-namespaces goes without KIND/NAME: name the namespace of one object with --namespace")
	}
	namespace, _, err := c.env.Namespace()
	if err != nil {
		return err
	}
	reader, err := c.env.Client()
	if err != nil {
		return err
	}
	g := &gatherer{reader: reader, namespace: namespace}
	var roots []*Node
	if len(args) == 0 {
		roots, err = g.instances(ctx, c.all)
	} else {
		roots, err = g.named(ctx, args[0])
	}
	if err != nil {
		return err
	}
	if c.output == "json" {
		encoder := json.NewEncoder(c.env.Out)
		encoder.SetEscapeHTML(false)
		encoder.SetIndent("", "  ")
		return encoder.Encode(map[string][]*Node{"roots": roots})
	}
	where := cli.Scope{Namespaces: true, Namespace: namespace}
	if c.all {
		where.Namespace = ""
	}
	return write(c.env.Out, roots, namespace, where)
}

// named is the tree of KIND/NAME.
func (g *gatherer) named(ctx context.Context, text string) ([]*Node, error) {
	kind, name, err := argument(text)
	if err != nil {
		return nil, err
	}
	switch kind {
	case kindInstance:
		instance, err := target.Instance(ctx, g.reader, g.namespace, name)
		if err != nil {
			return nil, err
		}
		return single(g.instance(ctx, instance))
	case kindBinding:
		binding, err := target.Binding(ctx, g.reader, g.namespace, name)
		if err != nil {
			return nil, err
		}
		return single(g.binding(ctx, binding))
	}
	finder := catalog.Finder{Reader: g.reader, Scope: cli.Scope{Cluster: true, Namespaces: true, Namespace: g.namespace}}
	found, err := finder.Type(ctx, name)
	if err != nil {
		return nil, err
	}
	return single(g.serviceType(ctx, found))
}

func single(root *Node, err error) ([]*Node, error) {
	if err != nil {
		return nil, err
	}
	return []*Node{root}, nil
}
