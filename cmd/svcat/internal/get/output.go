package get

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/printers"

	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/complete"
)

// The layouts that are tables.
const (
	layoutTable  = "table"
	layoutWide   = "wide"
	layoutLegacy = "legacy"
)

// layouts are the values of --output, but for those with an argument.
var layouts = []string{layoutTable, layoutWide, layoutLegacy, "json", "yaml", "kyaml", "name"}

// An output is how a list is written: what --output says.
type output struct {
	env   *cli.Env
	print *genericclioptions.PrintFlags
	// noHeaders leaves out the headers of tables.
	noHeaders bool
}

// bind adds the flags to a command.
func (o *output) bind(cmd *cobra.Command, env *cli.Env) {
	o.env = env
	o.print = genericclioptions.NewPrintFlags("")
	o.print.AddFlags(cmd)
	flag := cmd.Flags().Lookup("output")
	flag.DefValue = layoutTable
	flag.Usage = "How to print: table, wide (more columns), legacy (the tables of the retired svcat), json, yaml, kyaml, name, " +
		"jsonpath=TEMPLATE, go-template=TEMPLATE, custom-columns=HEADER:PATH,... or custom-columns-file=FILE"
	_ = flag.Value.Set(layoutTable)
	cmd.Flags().BoolVar(&o.noHeaders, "no-headers", false, "Print tables without their headers")
	_ = cmd.RegisterFlagCompletionFunc("output", complete.Words(append(slices.Clone(layouts), "jsonpath=", "go-template=", "custom-columns=", "custom-columns-file=")...))
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
	if format, argument, is := strings.Cut(*o.print.OutputFormat, "="); is && strings.HasPrefix(format, "custom-columns") {
		return newCustomColumns(format, argument, o.noHeaders)
	}
	printer, err := o.print.ToPrinter()
	if genericclioptions.IsNoCompatiblePrinterError(err) {
		return nil, cli.Usagef("--output is %q; allowed are %s, jsonpath=…, go-template=…, custom-columns=… and custom-columns-file=…", *o.print.OutputFormat, strings.Join(layouts, ", "))
	}
	if err != nil {
		return nil, cli.Usagef("--output: %w", err)
	}
	return printer, nil
}
