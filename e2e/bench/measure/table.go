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
type Table struct{ rows []Row }

// Add takes a row down, and says so at once: a run takes long.
func (t *Table) Add(r Row) {
	t.rows = append(t.rows, r)
	fmt.Fprintf(os.Stderr, "bench: %s: %s\n", r.What, number(r.Value, r.Unit))
}

// Missed says whether a row misses its goal.
func (t *Table) Missed() bool {
	for i := range t.rows {
		if t.rows[i].missed() {
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
		r := &t.rows[i]
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
		lines = append(lines, strings.Join([]string{r.What, number(r.Value, r.Unit), goal, verdict, r.Detail}, "\t"))
	}
	_, err := io.WriteString(columns, strings.Join(lines, "\n")+"\n")
	if err := errors.Join(err, columns.Flush()); err != nil {
		return fmt.Errorf("cannot print the table: %w", err)
	}
	return nil
}

// number has the digits that mean something, and the unit.
func number(value float64, unit string) string {
	digits := 2
	if value >= 10 || value <= -10 {
		digits = 0
	}
	return fmt.Sprintf("%.*f %s", digits, value, unit)
}
