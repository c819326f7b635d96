package describe

import (
	"fmt"
	"io"
	"slices"

	"github.com/defaultplan/defaultplan/cmd/svcat/internal/printer"
)

func writeHeading(w io.Writer, heading string) error { return writeText(w, "\n"+heading+":\n") }

// writeList writes a list below a heading.
func writeList(w io.Writer, heading string, list *printer.Pairs) error {
	if err := writeHeading(w, heading); err != nil {
		return err
	}
	return list.Write(w)
}

// writeTable writes a table below a heading, or a sentence where it has no rows.
func writeTable(w io.Writer, heading string, t *printer.Table, none string) error {
	if err := writeHeading(w, heading); err != nil {
		return err
	}
	if t.Len() == 0 {
		return writeText(w, none+"\n")
	}
	return t.Write(w)
}

// sortedTable is a table of rows in their order.
func sortedTable(rows [][]string, columns ...string) *printer.Table {
	slices.SortFunc(rows, slices.Compare)
	t := printer.New(columns...)
	for _, row := range rows {
		t.Add(row...)
	}
	return t
}

func writeText(w io.Writer, text string) error {
	if _, err := io.WriteString(w, text); err != nil {
		return fmt.Errorf("cannot write: %w", err)
	}
	return nil
}
