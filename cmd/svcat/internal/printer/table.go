package printer

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/mattn/go-runewidth"

	"github.com/defaultplan/defaultplan/cmd/svcat/internal/termtext"
)

// A Table is a header and rows of as many cells.
type Table struct {
	// NoHeaders leaves out the header and the rule below it.
	NoHeaders bool

	header []string
	rows   [][]string
	// least are the widths of the table that this one goes on with.
	least []int
}

// New returns a table with these columns, which are shown in capitals.
func New(columns ...string) *Table {
	header := make([]string, len(columns))
	for i, column := range columns {
		header[i] = strings.ToUpper(column)
	}
	return &Table{header: header}
}

// Add appends a row. Cells that are missing are empty, more than there are columns
// are left out.
func (t *Table) Add(cells ...string) {
	row := make([]string, len(t.header))
	for i := range min(len(row), len(cells)) {
		row[i] = termtext.Line(cells[i])
	}
	t.rows = append(t.rows, row)
}

// Len is the number of rows.
func (t *Table) Len() int { return len(t.rows) }

// Continue has the rows stand below those of a table that was written before: without a
// header, and in columns that are no narrower.
func (t *Table) Continue(written *Table) {
	t.NoHeaders, t.least = true, written.widths()
}

// narrowest is how few places Fit leaves a column.
const narrowest = 12

// Fit shortens cells of these columns, the widest column first, until a line takes no more
// than room places, or no column can give any more.
func (t *Table) Fit(room int, columns ...string) {
	widths := t.widths()
	over := 1 - room
	for _, width := range widths {
		over += width + 3
	}
	var prose []int
	for i, header := range t.header {
		if slices.ContainsFunc(columns, func(column string) bool { return strings.EqualFold(column, header) }) {
			prose = append(prose, i)
		}
	}
	slices.SortStableFunc(prose, func(a, b int) int { return widths[b] - widths[a] })
	for _, column := range prose {
		if least := max(narrowest, width(t.header[column])); over > 0 && widths[column] > least {
			narrowed := max(least, widths[column]-over)
			over -= widths[column] - narrowed
			for _, row := range t.rows {
				row[column] = runewidth.Truncate(row[column], narrowed, "…")
			}
		}
	}
}

// Write writes the table; no line ends with a space.
//
// Of a long last column, header and rule stand over its first longLast places only.
func (t *Table) Write(w io.Writer) error {
	widths := t.widths()
	last := len(widths) - 1
	widths[last] = min(widths[last], longLast)
	return t.write(w, widths, func(line string) string { return strings.TrimRight(line, " ") })
}

// longLast is how wide the rule draws the last column: a sentence there may be longer.
const longLast = 120

// pageWidth is how wide the retired svcat let its tables become.
const pageWidth = 80

// WriteLegacy writes the table as the retired svcat did: padded to the right too,
// with the last column wrapped so that 80 columns are enough, if wrap says so.
func (t *Table) WriteLegacy(w io.Writer, wrap bool) error {
	whole := t
	if wrap {
		whole = t.wrapped()
	}
	return whole.write(w, whole.widths(), func(line string) string { return line })
}

func (t *Table) write(w io.Writer, widths []int, end func(line string) string) error {
	buffered := bufio.NewWriter(w)
	if !t.NoHeaders {
		_, _ = buffered.WriteString(end(line(t.header, widths, centred)) + "\n" + end(rule(widths)) + "\n")
	}
	for _, row := range t.rows {
		_, _ = buffered.WriteString(end(line(row, widths, left)) + "\n")
	}
	if err := buffered.Flush(); err != nil {
		return fmt.Errorf("cannot write a table: %w", err)
	}
	return nil
}

// widths are how many places on the screen each column takes.
func (t *Table) widths() []int {
	widths := make([]int, len(t.header))
	copy(widths, t.least)
	if !t.NoHeaders {
		for i, cell := range t.header {
			widths[i] = max(widths[i], width(cell))
		}
	}
	for _, row := range t.rows {
		for i, cell := range row {
			widths[i] = max(widths[i], width(cell))
		}
	}
	return widths
}

// wrapped is the table with its last column wrapped: rows become several.
func (t *Table) wrapped() *Table {
	last := len(t.header) - 1
	room := pageWidth - 2
	for _, other := range t.widths()[:last] {
		room -= other + 3
	}
	whole := &Table{header: t.header, NoHeaders: t.NoHeaders}
	for _, row := range t.rows {
		if width(row[last]) <= room-3 {
			whole.rows = append(whole.rows, row)
			continue
		}
		for i, text := range wrap(row[last], room-3) {
			part := make([]string, len(row))
			if i == 0 {
				copy(part, row)
			}
			part[last] = text
			whole.rows = append(whole.rows, part)
		}
	}
	return whole
}

// wrap breaks text into lines of at most room places, or of its longest word, so that
// the lines but the last are of the most even length: the sum of the squares of what
// they leave free is the least.
func wrap(text string, room int) []string {
	words := strings.Fields(text)
	for _, word := range words {
		room = max(room, width(word))
	}
	// cost and next are of the best lines for the words from each on.
	cost, next := make([]int, len(words)+1), make([]int, len(words)+1)
	for from := len(words) - 1; from >= 0; from-- {
		length := width(words[from])
		for to := from + 1; length <= room; to++ {
			if to == len(words) {
				cost[from], next[from] = 0, to
				break
			}
			if c := (room-length)*(room-length) + cost[to]; next[from] == 0 || c < cost[from] {
				cost[from], next[from] = c, to
			}
			length += 1 + width(words[to])
		}
	}
	var lines []string
	for from := 0; from < len(words); from = next[from] {
		lines = append(lines, strings.Join(words[from:next[from]], " "))
	}
	return lines
}

// line is one line of cells, with two spaces before each and after the last.
func line(cells []string, widths []int, pad func(cell string, room int) string) string {
	var text strings.Builder
	for i, cell := range cells {
		if i > 0 {
			text.WriteByte(' ')
		}
		text.WriteString("  " + pad(cell, widths[i]-width(cell)))
	}
	text.WriteString("  ")
	return text.String()
}

func left(cell string, room int) string { return cell + strings.Repeat(" ", max(room, 0)) }

func centred(cell string, room int) string {
	return strings.Repeat(" ", room/2) + cell + strings.Repeat(" ", room-room/2)
}

func rule(widths []int) string {
	var text strings.Builder
	for _, w := range widths {
		text.WriteString("+" + strings.Repeat("-", w+2))
	}
	text.WriteByte('+')
	return text.String()
}

// width is how many places a cell takes; letters of the Far East take two.
func width(cell string) int {
	for i := range len(cell) {
		if cell[i] >= 0x80 {
			return runewidth.StringWidth(cell)
		}
	}
	return len(cell)
}
