package about

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
)

// NewReference returns the hidden command `svcat reference`, which writes the page
// of all commands: the same bytes on every machine and day.
func NewReference(env *cli.Env) *cobra.Command {
	return &cobra.Command{
		Use: "reference", Short: "Write the page of all commands in Markdown", Hidden: true,
		Example:           "  svcat reference > docs/svcat.md",
		Args:              cobra.NoArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := io.WriteString(env.Out, Reference(cmd.Root()))
			return err
		},
	}
}

// Reference is the page of a command and all below it.
func Reference(root *cobra.Command) string {
	page := &strings.Builder{}
	fmt.Fprintf(page, "<!-- Generated from the commands by `make generate`. -->\n\n# The commands of %s\n\n%s.\n\n", root.Name(), root.Short)
	for _, cmd := range listed(root) {
		fmt.Fprintf(page, "- [%s](#%s): %s\n", cmd.CommandPath(), anchor(cmd), escaped(cmd.Short))
	}
	page.WriteString("\n## Flags of every command\n\n")
	flags(page, root.PersistentFlags())
	for _, cmd := range listed(root) {
		section(page, cmd)
	}
	return page.String()
}

// listed are the commands that help shows, in its order; of those below another,
// the other first.
func listed(parent *cobra.Command) []*cobra.Command {
	var all []*cobra.Command
	for _, cmd := range parent.Commands() {
		if cmd.IsAvailableCommand() && cmd.Name() != "help" {
			all = append(append(all, cmd), listed(cmd)...)
		}
	}
	return all
}

func section(page *strings.Builder, cmd *cobra.Command) {
	text := cmd.Long
	if text == "" {
		text = cmd.Short
	}
	fmt.Fprintf(page, "\n## %s\n\n%s\n\n```\n%s\n```\n", cmd.CommandPath(), escaped(strings.TrimSpace(text)), cmd.UseLine())
	if len(cmd.Aliases) > 0 {
		fmt.Fprintf(page, "\nAlso called %s.\n", strings.Join(cmd.Aliases, ", "))
	}
	if cmd.Example != "" {
		fmt.Fprintf(page, "\n```console\n%s\n```\n", unindented(cmd.Example))
	}
	if cmd.LocalFlags().HasAvailableFlags() {
		page.WriteString("\n")
		flags(page, cmd.LocalFlags())
	}
}

// flags are a table.
func flags(page *strings.Builder, set *pflag.FlagSet) {
	page.WriteString("| flag | default | meaning |\n|---|---|---|\n")
	set.VisitAll(func(flag *pflag.Flag) {
		if flag.Hidden || flag.Name == "help" {
			return
		}
		name := "`--" + flag.Name + "`"
		if flag.Shorthand != "" {
			name = "`-" + flag.Shorthand + "`, " + name
		}
		value := ""
		if flag.DefValue != "" && flag.DefValue != "[]" {
			value = "`" + flag.DefValue + "`"
		}
		_, usage := pflag.UnquoteUsage(flag)
		fmt.Fprintf(page, "| %s | %s | %s |\n", name, value, strings.ReplaceAll(escaped(usage), "|", `\|`))
	})
}

// anchor is where the heading of a command is on the page.
func anchor(cmd *cobra.Command) string { return strings.ReplaceAll(cmd.CommandPath(), " ", "-") }

// escaped is text in which a reader of Markdown sees no markup.
func escaped(text string) string {
	return strings.NewReplacer("<", `\<`, "*", `\*`, "_", `\_`).Replace(text)
}

// unindented is an example without the two spaces that help has before each line.
func unindented(example string) string {
	lines := strings.Split(strings.Trim(example, "\n"), "\n")
	for i := range lines {
		lines[i] = strings.TrimPrefix(lines[i], "  ")
	}
	return strings.Join(lines, "\n")
}
