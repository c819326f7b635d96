package get

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/printers"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/complete"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/printer"
)

// The layouts that are tables.
const (
	layoutTable  = "table"
	layoutWide   = "wide"
	layoutLegacy = "legacy"
)

// layouts are the values of --output, but for those with an argument.
var layouts = []string{layoutTable, layoutWide, layoutLegacy, "json", "yaml", "name"}

// An output is how a list is written: what --output says.
type output struct {
	env   *cli.Env
	print *genericclioptions.PrintFlags
}

// bind adds the flags to a command.
func (o *output) bind(cmd *cobra.Command, env *cli.Env) {
	o.env = env
	o.print = genericclioptions.NewPrintFlags("")
	o.print.AddFlags(cmd)
	flag := cmd.Flags().Lookup("output")
	flag.DefValue = layoutTable
	flag.Usage = "How to print: table, wide (more columns), legacy (the tables of the retired svcat), json, yaml, name, jsonpath=TEMPLATE or go-template=TEMPLATE"
	_ = flag.Value.Set(layoutTable)
	_ = cmd.RegisterFlagCompletionFunc("output", complete.Words(append(slices.Clone(layouts), "jsonpath=", "go-template=")...))
}

// layout is the table to write, empty where objects are printed as they are.
func (o *output) layout() string {
	switch format := *o.print.OutputFormat; format {
	case layoutTable, layoutWide, layoutLegacy:
		return format
	case "":
		return layoutTable
	}
	return ""
}

// printer prints objects as they are.
func (o *output) printer() (printers.ResourcePrinter, error) {
	printer, err := o.print.ToPrinter()
	if genericclioptions.IsNoCompatiblePrinterError(err) {
		return nil, cli.Usagef("--output is %q; allowed are %s, jsonpath=… and go-template=…", *o.print.OutputFormat, strings.Join(layouts, ", "))
	}
	if err != nil {
		return nil, cli.Usagef("--output: %w", err)
	}
	return printer, nil
}

// A key is an object among those of a kind of either scope.
type key struct{ namespace, name string }

func (k key) own() key { return k }

func keysOf[R interface{ own() key }](all []R) []key {
	keys := make([]key, len(all))
	for i := range all {
		keys[i] = all[i].own()
	}
	return keys
}

// rows are what a table shows, sorted.
type rows interface {
	// keys are the objects, one a row.
	keys() []key
	// fill makes the table of a layout; wrap says that its legacy layout wraps the
	// last column.
	fill(layout string) (t *printer.Table, wrap bool)
}

// A listing is one run of a command that lists.
type listing struct {
	output

	// where says which scope the flags ask for.
	where  func(env *cli.Env) (cli.Scope, error)
	scope  cli.Scope
	client client.Client
	// plural is what is listed, as in "plans"; cluster and namespaced are the kinds,
	// either of which may be empty.
	plural, cluster, namespaced string
	// one says that one object was named, and is shown alone.
	one bool
	// filters are what narrows the list, as in "of type mysql".
	filters []string
	// by are the names among them.
	by names
	// standing says that only what gives instances a plan is listed.
	standing bool
}

// narrow adds a filter, if there is a value.
func (l *listing) narrow(words, value string) {
	if value != "" {
		l.filters = append(l.filters, strings.TrimSpace(words+" "+value))
	}
}

// named says that an object was named, which is shown alone, or looked for in every
// namespace.
func (l *listing) named(args []string, everywhere bool) {
	if len(args) == 1 {
		l.one = !everywhere
		l.narrow("called", args[0])
	}
}

// A loader finds what a scope has to show.
type loader func(scope cli.Scope) (rows, error)

// show writes what load finds. Where objects are printed whole, load is only called
// to know which, and they are read again page by page.
func (l *listing) show(ctx context.Context, load loader) error {
	scope, err := l.where(l.env)
	if err != nil {
		return err
	}
	l.scope = scope
	if l.client, err = l.env.Client(); err != nil {
		return err
	}
	layout := l.layout()
	if layout == "" {
		return l.showObjects(ctx, load)
	}
	found, err := l.readable(ctx, load)
	if err != nil {
		return err
	}
	if len(found.keys()) == 0 {
		if err := l.empty(ctx); err != nil {
			return err
		}
		return l.tellCluster()
	}
	t, wrap := found.fill(layout)
	if layout == layoutLegacy {
		return t.WriteLegacy(l.env.Out, wrap)
	}
	if err := t.Write(l.env.Out); err != nil {
		return err
	}
	return l.tellCluster()
}

// tellCluster says that what gives instances of a namespace a plan is not all listed: what the
// cluster has counts there, too.
func (l *listing) tellCluster() error {
	if !l.standing || l.one || l.scope.Cluster || l.scope.Namespace == "" {
		return nil
	}
	_, err := fmt.Fprintf(l.env.ErrOut, "the cluster's default plans hold in %s too, for types that have none there; to list both: svcat get %s --default -n %s --scope all\n",
		l.scope, l.plural, l.scope.Namespace)
	return err
}

// empty says that there is nothing to show: it is an error where an object or filter
// was named that is not there, and else no failure.
func (l *listing) empty(ctx context.Context) error {
	if err := l.slip(ctx); err != nil {
		return err
	}
	sentence := l.nothing()
	if near := l.nearType(ctx); near != "" {
		sentence += "; did you mean " + near + "?"
	}
	if l.one {
		return errors.New(sentence)
	}
	_, err := fmt.Fprintln(l.env.ErrOut, sentence)
	return err
}

// nothing is the sentence for an empty list.
func (l *listing) nothing() string {
	words := append([]string{"no", l.plural}, l.filters...)
	return strings.Join(words, " ") + " in " + l.scope.String()
}
