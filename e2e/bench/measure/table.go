package measure

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"
)

// A Bound says on which side of its goal a measurement has to be.
type Bound int

const (
	// Told is measured for the reader: there is no goal.
	Told Bound = iota
	// AtMost is a goal that a value must not exceed.
	AtMost
	// AtLeast is a goal that a value must reach.
	AtLeast
)

// A Row is one measurement beside its goal.
type Row struct {
	// Part is what it was measured by; a table sets it.
	Part  string
	What  string
	Value float64
	// Unit is printed behind the value, such as × or %.
	Unit  string
	Bound Bound
	Goal  float64
	// Detail is how the value came about.
	Detail string
}

func (r *Row) missed() bool {
	switch r.Bound {
	case AtMost:
		return !(r.Value <= r.Goal) // also for what is not a number
	case AtLeast:
		return !(r.Value >= r.Goal)
	default:
		return false
	}
}

// A Table is what is printed in the end.
type Table struct {
	// Unjudged is set where the sizes are not those of the goals.
	Unjudged bool

	part string
	rows []Row
}

// Begin says by which part the next rows are measured.
func (t *Table) Begin(part string) { t.part = part }

// Rows are those of one part.
func (t *Table) Rows(part string) []Row {
	var rows []Row
	for _, r := range t.rows {
		if r.Part == part {
			rows = append(rows, r)
		}
	}
	return rows
}

// Add takes a row down, and says so at once: a run takes long.
func (t *Table) Add(r Row) {
	r.Part = t.part
	t.rows = append(t.rows, r)
	fmt.Fprintf(os.Stderr, "bench: %s: %s\n", r.What, number(r.Value, r.Unit))
}

// Missed says whether a row misses its goal.
func (t *Table) Missed() bool {
	for i := range t.rows {
		if t.rows[i].missed() && !t.Unjudged {
			return true
		}
	}
	return false
}

// Print writes the rows in columns.
func (t *Table) Print(w io.Writer) error {
	columns := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	lines := []string{"\tMEASURED\tGOAL\t\tHOW"}
	for i := range t.rows {
		cells := t.rows[i].Cells()
		if t.Unjudged {
			cells[3] = ""
		}
		lines = append(lines, strings.Join(cells[:], "\t"))
	}
	_, err := io.WriteString(columns, strings.Join(lines, "\n")+"\n")
	if err := errors.Join(err, columns.Flush()); err != nil {
		return fmt.Errorf("cannot print the table: %w", err)
	}
	return nil
}

// Cells are what is shown of a row: what was measured, the value, the goal, how they compare, and
// how the value came about.
func (r *Row) Cells() [5]string {
	goal, verdict := "-", ""
	switch r.Bound {
	case AtMost:
		goal = "≤ " + number(r.Goal, r.Unit)
	case AtLeast:
		goal = "≥ " + number(r.Goal, r.Unit)
	case Told:
	}
	if r.Bound != Told {
		verdict = "ok"
	}
	if r.missed() {
		verdict = "MISSED"
	}
	return [5]string{r.What, number(r.Value, r.Unit), goal, verdict, r.Detail}
}

// number has the digits that mean something, and the unit.
func number(value float64, unit string) string {
	digits := 2
	if value >= 10 || value <= -10 {
		digits = 0
	}
	return strings.TrimSpace(fmt.Sprintf("%.*f %s", digits, value, unit))
}
