package simulate

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/defaultplan/defaultplan/cmd/svcat/internal/printer"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/simulation"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/termtext"
)

const outputTable = "table"

// outputs are the values of --output, and printers what prints each.
var (
	outputs  = []string{outputTable, "json", "yaml", "markdown"}
	printers = map[string]func(io.Writer, *simulation.Report) error{
		outputTable: printTable, "json": printJSON, "yaml": printYAML, "markdown": printMarkdown,
	}
)

// printJSON prints the report as programs read it.
func printJSON(w io.Writer, report *simulation.Report) error {
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(report); err != nil {
		return fmt.Errorf("cannot print: %w", err)
	}
	return nil
}

func printYAML(w io.Writer, report *simulation.Report) error {
	text, err := yaml.Marshal(report)
	if err == nil {
		_, err = w.Write(text)
	}
	if err != nil {
		return fmt.Errorf("cannot print: %w", err)
	}
	return nil
}

// printTable prints the report for a person: a table for each part, then refusals with their whole
// text, and what is not known last.
func printTable(w io.Writer, report *simulation.Report) error {
	text := &strings.Builder{}
	fmt.Fprintln(text, summary(report))
	for _, part := range sections(report) {
		table := printer.New(part.columns...)
		for _, row := range part.rows {
			table.Add(row...)
		}
		fmt.Fprintf(text, "\n%s\n", part.title)
		_ = table.Write(text) // a Builder takes everything
	}
	if len(report.Refusals) > 0 {
		fmt.Fprint(text, "\nRefusals\n")
	}
	for i := range report.Refusals {
		one := &report.Refusals[i]
		fmt.Fprintf(text, "  %s\n", termtext.Line(subject(one)))
		for line := range strings.Lines(one.Message) {
			fmt.Fprintf(text, "    %s\n", termtext.Line(strings.TrimRight(line, "\r\n")))
		}
	}
	for _, part := range remarks(report) {
		if len(part.sentences) > 0 {
			fmt.Fprintf(text, "\n%s\n", part.title)
		}
		for _, one := range part.sentences {
			fmt.Fprintf(text, "  %s\n", termtext.Line(one))
		}
	}
	if _, err := io.WriteString(w, text.String()); err != nil {
		return fmt.Errorf("cannot print: %w", err)
	}
	return nil
}

// remarks are the sentences that a report ends with.
func remarks(report *simulation.Report) []remark {
	return []remark{{"Notes", report.Notes}, {"Not known", report.NotKnown}}
}

// A remark is a list of sentences.
type remark struct {
	title     string
	sentences []string
}
