package simulate

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/simulation"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/termtext"
)

// A section is one part of the report as tables and pages show it.
type section struct {
	title   string
	columns []string
	rows    [][]string
}

// nothing stands for what there is none of.
const nothing = "-"

// sections are the parts of a report that have something to tell, but for refusals, notes and what
// is not known.
func sections(report *simulation.Report) []section {
	all := []section{
		{title: "Types", columns: []string{"Type", "Namespaces", "Now", "By rule", "Then", "By rule then"}, rows: types(report.Types)},
		{title: "Instances", columns: []string{"Namespace", "Instance", "What", "Now", "Then", "Message"}, rows: effects(report.Instances)},
		{title: "Bindings", columns: []string{"Namespace", "Binding", "What", "Now", "Then", "Message"}, rows: effects(report.Bindings)},
		{title: "Limits", columns: []string{"Policy", "Namespace", "Of", "Now", "Then"}, rows: limits(report.Limits)},
		{title: "Costs", columns: []string{"Namespace", "Now", "Then"}, rows: costs(&report.Costs)},
		{title: "Changed", columns: []string{"Kind", "Objects"}, rows: changed(report.Changed)},
	}
	var told []section
	for _, one := range all {
		if len(one.rows) > 0 {
			told = append(told, one)
		}
	}
	return told
}

// types are what types mean, one row for all namespaces in which a type means the same.
func types(of []simulation.Type) [][]string {
	var rows [][]string
	row, namespaces := map[string]int{}, map[int][]string{}
	for i := range of {
		t := &of[i]
		cells := []string{t.Type, "", resolution(&t.Now), cmp.Or(t.Now.Rule, nothing), resolution(&t.Then), cmp.Or(t.Then.Rule, nothing)}
		key := strings.Join(cells, "\x00")
		at, known := row[key]
		if !known {
			at, row[key], rows = len(rows), len(rows), append(rows, cells)
		}
		namespaces[at] = append(namespaces[at], t.Namespace)
	}
	for i := range rows {
		rows[i][1] = some(namespaces[i])
	}
	return rows
}

// changed is what is stored otherwise, one row for each kind.
func changed(objects []simulation.Object) [][]string {
	names := map[string][]string{}
	for i := range objects {
		o := &objects[i]
		names[o.Kind] = append(names[o.Kind], cli.Qualified(o.Namespace, o.Name))
	}
	var rows [][]string
	for _, kind := range slices.Sorted(maps.Keys(names)) {
		rows = append(rows, []string{kind, some(names[kind])})
	}
	return rows
}

// shown is how many names a cell has.
const shown = 3

// some are the first of names, and how many there are beside them.
func some(names []string) string {
	if more := len(names) - shown; more > 0 {
		return strings.Join(names[:shown], ", ") + " and " + strconv.Itoa(more) + " more"
	}
	return strings.Join(names, ", ")
}

// resolution is what a type means, with what it costs.
func resolution(r *simulation.Resolution) string {
	switch {
	case r.Plan != "" && len(r.Costs) > 0:
		return cli.Qualified(r.Class, r.Plan) + " (" + amounts(r.Costs) + ")"
	case r.Plan != "":
		return cli.Qualified(r.Class, r.Plan)
	case r.Waits:
		return strings.TrimSuffix("waits: "+reason(r.Refusal), ": ")
	}
	return "refused: " + reason(r.Refusal)
}

func effects(of []simulation.Effect) [][]string {
	var rows [][]string
	for _, e := range of {
		rows = append(rows, []string{e.Namespace, e.Name, string(e.What), cmp.Or(e.Now, nothing), cmp.Or(e.Then, nothing), firstLine(e.Message)})
	}
	return rows
}

func limits(of []simulation.Limit) [][]string {
	var rows [][]string
	for _, l := range of {
		rows = append(rows, []string{l.Policy, l.Namespace, l.Kind, usage(l.Now), usage(l.Then)})
	}
	return rows
}

// usage is how a limit is used, such as "3 of 2, 2 granted".
func usage(u simulation.Usage) string {
	if u.Limit == nil {
		return nothing
	}
	text := fmt.Sprintf("%d of %d", u.Used, *u.Limit)
	if u.Granted != u.Used {
		text += fmt.Sprintf(", %d granted", u.Granted)
	}
	return text
}

// costs are those of the namespaces in which they change, and then of all.
func costs(of *simulation.Costs) [][]string {
	if len(of.Namespaces) == 0 {
		return nil
	}
	var rows [][]string
	for _, n := range of.Namespaces {
		rows = append(rows, []string{n.Namespace, sum(&n.Now), sum(&n.Then)})
	}
	return append(rows, []string{"(all)", sum(&of.Now), sum(&of.Then)})
}

// sum is what some instances cost; those without costs are counted.
func sum(of *simulation.Sum) string {
	text := amounts(of.Costs)
	switch {
	case of.Unknown > 0 && text != "":
		return text + ", and " + strconv.Itoa(of.Unknown) + " unknown"
	case of.Unknown > 0:
		return strconv.Itoa(of.Unknown) + " unknown"
	}
	return cmp.Or(text, nothing)
}

func amounts(of []simulation.Cost) string {
	var all []string
	for _, c := range of {
		all = append(all, fmt.Sprintf("%s %s / %s", c.Amount, c.Currency, c.Unit))
	}
	return strings.Join(all, ", ")
}

// subject is what is refused.
func subject(r *simulation.Refusal) string {
	text := r.Kind + " " + cli.Qualified(r.Namespace, r.Name)
	if r.Change {
		return "the change of " + text
	}
	return text
}

// summary is the report in a sentence.
func summary(report *simulation.Report) string {
	refused, named := 0, map[string]bool{}
	for i := range report.Refusals {
		if report.Refusals[i].Change {
			refused++
		}
	}
	for i := range report.Types {
		named[report.Types[i].Type] = true
	}
	var parts []string
	for _, part := range []struct {
		n         int
		one, more string
	}{
		{refused, "refused change", "refused changes"},
		{len(report.Changed), "changed object", "changed objects"},
		{len(named), "type", "types"}, {len(report.Instances), "effect on an instance", "effects on instances"},
		{len(report.Bindings), "effect on a binding", "effects on bindings"}, {len(report.Limits), "limit", "limits"},
		{len(report.Refusals) - refused, "new refusal", "new refusals"},
		{len(report.Costs.Namespaces), "namespace with other costs", "namespaces with other costs"},
	} {
		switch {
		case part.n == 1:
			parts = append(parts, "1 "+part.one)
		case part.n > 1:
			parts = append(parts, fmt.Sprintf("%d %s", part.n, part.more))
		}
	}
	if len(parts) == 0 {
		return "Nothing changes."
	}
	return "What changes: " + strings.Join(parts, ", ") + "."
}

// firstLine is the first line of a message without the name of the webhook; the whole message is
// among the refusals.
func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	if _, said, denied := strings.Cut(line, " denied the request: "); denied {
		return said
	}
	return line
}

// mostReason is how many characters a reason has in the middle of a table.
const mostReason = 60

// reason is the first line of a message, shortened.
func reason(text string) string { return termtext.Short(firstLine(text), mostReason) }
