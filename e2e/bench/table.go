package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"
)

// A bound says on which side of its goal a measurement has to be.
type bound int

const (
	// told is measured for the reader: there is no goal.
	told bound = iota
	atMost
	atLeast
)

// A row is one measurement beside its goal.
type row struct {
	what  string
	value float64
	// unit is printed behind the value, such as × or %.
	unit  string
	bound bound
	goal  float64
	// detail is how the value came about.
	detail string
}

func (r *row) missed() bool {
	switch r.bound {
	case atMost:
		return !(r.value <= r.goal) // also for what is not a number
	case atLeast:
		return !(r.value >= r.goal)
	default:
		return false
	}
}

// A table is what is printed in the end.
type table struct{ rows []row }

// add takes a row down, and says so at once: a run takes long.
func (t *table) add(r row) {
	t.rows = append(t.rows, r)
	fmt.Fprintf(os.Stderr, "bench: %s: %s\n", r.what, number(r.value, r.unit))
}

func (t *table) missed() bool {
	for i := range t.rows {
		if t.rows[i].missed() {
			return true
		}
	}
	return false
}

func (t *table) writeTo(w io.Writer) error {
	columns := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	lines := []string{"\tMEASURED\tGOAL\t\tHOW"}
	for i := range t.rows {
		r := &t.rows[i]
		goal, verdict := "-", ""
		switch r.bound {
		case atMost:
			goal = "≤ " + number(r.goal, r.unit)
		case atLeast:
			goal = "≥ " + number(r.goal, r.unit)
		case told:
		}
		if r.bound != told {
			verdict = "ok"
		}
		if r.missed() {
			verdict = "MISSED"
		}
		lines = append(lines, strings.Join([]string{r.what, number(r.value, r.unit), goal, verdict, r.detail}, "\t"))
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
