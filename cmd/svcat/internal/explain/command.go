// Package explain has the command that explains a choice: explain.
//
// It decides nothing itself. It reads the slice of the cluster that a question is
// about, lets package resolve tell the choice step by step, package policy what
// refuses it and package merge where each parameter comes from, and admission's own
// handlers, run here on that slice, have the last word. It needs no right to write.
package explain

import (
	"context"
	"errors"
	"strings"

	"github.com/spf13/cobra"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/complete"
	"github.com/defaultplan/defaultplan/webhook/offline"
	"github.com/defaultplan/defaultplan/webhook/options"
)

const long = `Explain why something gets the plan that it gets: each tier that is asked, each
candidate and what became of it, what the types record, what policies refuse, and
which layer each parameter comes from.

  TYPE              what an instance gets that asks for this type only
  instance/NAME     what was decided for an instance, and what would be now
  binding/NAME      the same of a binding
  -f FILE           what admission would make of the instances and bindings in it,
                    were they created now

Nothing is written, and only reading the catalog and the object takes a right. It
answers for a webhook with its default options; where yours has others, give them
here, as in --unresolved=wait. Parameters are shown as they stand in spec; nothing
is read from a Secret.

Of something that is refused it says so, and exits with 0: the question is answered.
With 1 it exits where there is no such thing, or where something cannot be read; for
a test that fails where admission refuses, see svcat render.

-o json has one stable shape: {"explanations": [{"subject", "asks", "then", "now",
"difference", "notes"}]}, where then and now have plan, rule and parameters, and now
has verdict (decided, waits or refused), tiers with their claims, others, records,
warnings and refusal.`

const example = `  # What does "mysql" mean here, and why?
  svcat explain mysql -n dev

  # Why did mydb get its plan, and would it get it again?
  svcat explain instance/mydb

  # Where does each key of a binding's Secret come from?
  svcat explain binding/mydb

  # What would admission make of a manifest? Nothing is created.
  svcat explain -f instance.yaml
  helm template mychart | svcat explain -f -

  # A picture
  svcat explain mysql -o dot | dot -Tsvg > mysql.svg`

// A command is `svcat explain` with its flags.
type command struct {
	env       *cli.Env
	files     []string
	recursive bool
	output    string
	// options are those that the cluster's webhook is taken to have.
	options *options.Options
}

// New returns the command `svcat explain`.
func New(env *cli.Env) *cobra.Command {
	c := &command{env: env, options: options.New()}
	cmd := &cobra.Command{
		Use:   "explain TYPE | instance/NAME | binding/NAME | -f FILE",
		Short: "Explain which plan something gets, and why",
		Long:  long, Example: example,
		Args:              c.validate,
		ValidArgsFunction: c.words,
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.run(cmd.Context(), args)
		},
	}
	flags := cmd.Flags()
	flags.StringSliceVarP(&c.files, "filename", "f", nil, "Explain the instances and bindings of files or folders; - is standard input")
	flags.BoolVarP(&c.recursive, "recursive", "R", false, "With --filename: folders within folders, too")
	flags.StringVarP(&c.output, "output", "o", "tree", "How to print it: "+strings.Join(outputs, ", "))
	offline.BindFlags(flags, c.options)
	complete.Flags(cmd, map[string]complete.Func{"output": complete.Words(outputs...)})
	return cmd
}

// validate says what is wrong with the command line.
func (c *command) validate(_ *cobra.Command, args []string) error {
	const allowed = "allowed are TYPE, instance/NAME, binding/NAME, or -f FILE"
	switch {
	case len(c.files) > 0 && len(args) > 0:
		return cli.Usagef("explain takes %q or --filename, not both", args[0])
	case len(c.files) == 0 && len(args) != 1:
		return cli.Usagef("explain takes one argument; %s", allowed)
	}
	if err := c.options.Validate(); err != nil {
		return cli.Usagef("%w", err)
	}
	if _, err := drawerOf(c.output); err != nil {
		return err
	}
	if len(args) == 0 {
		return nil
	}
	kind, name := subjectOf(args[0])
	if kind == "" || name == "" {
		return cli.Usagef("%q is nothing that explain knows;%s %s", args[0], cli.DidYouMean(args[0], []string{"instance", "binding", "type"}), allowed)
	}
	return nil
}

// subjectOf is the kind and name that an argument means; a kind that is unknown is
// empty.
func subjectOf(argument string) (kind, name string) {
	kind, name, split := strings.Cut(argument, "/")
	if !split {
		return KindType, argument
	}
	return kindOf(kind), name
}

// kindOf is the kind that a word means; empty if explain does not know it.
func kindOf(word string) string {
	return map[string]string{"type": KindType, "instance": KindInstance, "binding": KindBinding}[cli.KindOf(word)]
}

func (c *command) run(ctx context.Context, args []string) error {
	reader, err := c.env.Client()
	if err != nil {
		return err
	}
	namespace, _, err := c.env.Namespace()
	if err != nil {
		return err
	}
	asker, err := NewAsker(reader, c.options)
	if err != nil {
		return err
	}
	var report Report
	var unread error
	if len(args) > 0 {
		err = stored(ctx, asker, namespace, args[0], &report)
	} else {
		unread, err = c.written(ctx, asker, namespace, &report)
	}
	if err != nil {
		return err
	}
	draw, err := drawerOf(c.output)
	if err != nil {
		return err
	}
	return errors.Join(draw(c.env, &report), unread)
}

// stored explains what an argument names.
func stored(ctx context.Context, asker *Asker, namespace, argument string, report *Report) error {
	var told Explanation
	var err error
	switch kind, name := subjectOf(argument); kind {
	case KindInstance:
		told, err = asker.Instance(ctx, client.ObjectKey{Namespace: namespace, Name: name})
	case KindBinding:
		told, err = asker.Binding(ctx, client.ObjectKey{Namespace: namespace, Name: name})
	default:
		told, err = asker.Type(ctx, namespace, name)
	}
	report.Explanations = append(report.Explanations, told)
	return err
}
