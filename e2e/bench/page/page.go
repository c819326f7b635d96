package page

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/defaultplan/defaultplan/e2e/bench/measure"
)

// The markers of the block, and of each part in it.
const (
	begin = "<!-- make bench writes from here -->"
	end   = "<!-- to here -->"
)

var (
	errNoBlock = errors.New("the page has no block to write: a line " + begin + ", and below it one " + end)
	partMarker = regexp.MustCompile(`(?m)^<!-- part ([a-z]+) -->\n`)
)

// A Part is what one part of the benchmark measured.
type Part struct {
	Name string
	Rows []measure.Row
	// Origin is when and on what it was measured.
	Origin Origin
	// Curve is the name of the file with its curve, if it has one.
	Curve string
}

// Write is the page with the parts in its block. Those in the block that were not measured stay,
// each with its own origin; those that order does not name go.
func Write(page string, order []string, parts []Part) (string, error) {
	before, rest, found := strings.Cut(page, begin)
	block, after, ended := strings.Cut(rest, end)
	if !found || !ended {
		return "", errNoBlock
	}
	sections := sectionsOf(block)
	for i := range parts {
		sections[parts[i].Name] = parts[i].section()
	}
	var text strings.Builder
	text.WriteString(before + begin + "\n\n" + summary(order, sections))
	for _, name := range order {
		if section, is := sections[name]; is {
			fmt.Fprintf(&text, "<!-- part %s -->\n%s\n\n", name, section)
		}
	}
	text.WriteString(end + after)
	return text.String(), nil
}

// sectionsOf are the parts that a block has.
func sectionsOf(block string) map[string]string {
	sections := map[string]string{}
	markers := partMarker.FindAllStringSubmatchIndex(block, -1)
	for i, at := range markers {
		to := len(block)
		if i+1 < len(markers) {
			to = markers[i+1][0]
		}
		sections[block[at[2]:at[3]]] = strings.TrimSpace(block[at[1]:to])
	}
	return sections
}

var commitOf = regexp.MustCompile(`(?m)^Measured on .*, commit ([^,\n]+)`)

// summary says whether all parts are of one commit, and which were not measured.
func summary(order []string, sections map[string]string) string {
	var commits, missing []string
	for _, name := range order {
		match := commitOf.FindStringSubmatch(sections[name])
		switch {
		case match == nil:
			missing = append(missing, "`"+name+"`")
		case !slices.Contains(commits, match[1]):
			commits = append(commits, match[1])
		}
	}
	slices.Sort(commits)
	which, on := "All parts", "commit "
	if len(commits) > 1 {
		on = fmt.Sprintf("%d commits: ", len(commits))
	}
	without := ""
	if len(missing) > 0 {
		which, without = "The parts", " Not measured: "+strings.Join(missing, ", ")+"."
	}
	if len(commits) == 0 {
		return ""
	}
	return fmt.Sprintf("%s were measured on %s%s.%s\n\n", which, on, strings.Join(commits, ", "), without)
}

// section is a part as the page has it.
func (p *Part) section() string {
	var text strings.Builder
	fmt.Fprintf(&text, "### Part `%s`\n\n%s\n\n", p.Name, p.Origin)
	if p.Curve != "" {
		fmt.Fprintf(&text, "![How cost grows with the number of instances](%s)\n\n", p.Curve)
	}
	text.WriteString("| what | measured | goal | | how |\n|---|---|---|---|---|\n")
	for i := range p.Rows {
		cells := p.Rows[i].Cells()
		for c := range cells {
			cells[c] = strings.ReplaceAll(strings.TrimSpace(cells[c]), "|", `\|`)
		}
		if strings.HasPrefix(p.Rows[i].What, " ") {
			cells[0] = "… " + cells[0]
		}
		if cells[3] == "MISSED" {
			cells[3] = "**missed**"
		}
		text.WriteString("| " + strings.Join(cells[:], " | ") + " |\n")
	}
	return strings.TrimSpace(text.String())
}
