package simulate

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/defaultplan/defaultplan/cmd/svcat/internal/simulation"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/termtext"
)

const (
	// mostPage is how many bytes a page has: GitHub takes a comment of 65,536 characters.
	mostPage = 65_000
	// mostCell and mostMessage are how many characters a cell and a line of a message have.
	mostCell, mostMessage = 200, 2000
)

// printMarkdown prints the report as a comment of a pull request.
func printMarkdown(w io.Writer, report *simulation.Report) error {
	if _, err := io.WriteString(w, page(report)); err != nil {
		return fmt.Errorf("cannot print: %w", err)
	}
	return nil
}

// A block is a part of a page: its head, and items that may be left out from the end.
type block struct {
	head  string
	items []string
}

// page is the report in Markdown. What does not fit is counted.
func page(report *simulation.Report) string {
	var blocks []block
	for _, part := range sections(report) {
		one := block{head: fmt.Sprintf("\n#### %s\n\n| %s |\n|%s\n", part.title, strings.Join(part.columns, " | "), strings.Repeat("---|", len(part.columns)))}
		for _, row := range part.rows {
			one.items = append(one.items, tableRow(row))
		}
		blocks = append(blocks, one)
	}
	if len(report.Refusals) > 0 {
		one := block{head: "\n#### Refusals\n"}
		for i := range report.Refusals {
			one.items = append(one.items, "\n"+code(subject(&report.Refusals[i]))+"\n\n"+fenced(report.Refusals[i].Message))
		}
		blocks = append(blocks, one)
	}
	for _, part := range remarks(report) {
		if len(part.sentences) == 0 {
			continue
		}
		one := block{head: "\n#### " + part.title + "\n\n"}
		for _, sentence := range part.sentences {
			one.items = append(one.items, "- "+codeOf(sentence, mostMessage)+"\n")
		}
		blocks = append(blocks, one)
	}
	text := &strings.Builder{}
	text.WriteString("### svcat simulate\n\n" + summary(report) + "\n")
	for i, one := range blocks {
		text.WriteString(one.within((mostPage - text.Len()) / (len(blocks) - i)))
	}
	return text.String()
}

// within is a block of no more than so many bytes: each has its share of what the blocks before
// it left. Items that have no room are counted.
func (b *block) within(room int) string {
	const counted = len("\n… and 1000000000 more\n")
	text := &strings.Builder{}
	text.WriteString(b.head)
	for i, item := range b.items {
		reserve := counted
		if i == len(b.items)-1 {
			reserve = 0
		}
		if text.Len()+len(item)+reserve > room {
			fmt.Fprintf(text, "\n… and %d more\n", len(b.items)-i)
			break
		}
		text.WriteString(item)
	}
	return text.String()
}

func tableRow(cells []string) string {
	row := &strings.Builder{}
	for _, cell := range cells {
		row.WriteString("| ")
		if cell != "" {
			// In a table a bar ends the cell, also in code, and behind an escape of the text's own.
			row.WriteString(code(strings.ReplaceAll(cell, "|", "¦")) + " ")
		}
	}
	row.WriteString("|\n")
	return row.String()
}

// code is the text of a cell as code.
func code(text string) string { return codeOf(text, mostCell) }

// codeOf is a text of so many characters at most as code: nothing in it is markup, a mention or a
// link.
func codeOf(text string, most int) string {
	text = termtext.Short(text, most)
	if text == "" {
		return ""
	}
	fence := strings.Repeat("`", longestRun(text)+1)
	if strings.HasPrefix(text, "`") || strings.HasSuffix(text, "`") {
		text = " " + text + " "
	}
	return fence + text + fence
}

// fenced is a message of several lines as a block of code.
func fenced(text string) string {
	var lines []string
	left := mostMessage
	for line := range strings.Lines(text) {
		line = termtext.Short(strings.TrimRight(line, "\r\n"), max(left, 2))
		if left -= utf8.RuneCountInString(line); left < 0 {
			lines = append(lines, "…")
			break
		}
		lines = append(lines, line)
	}
	shown := strings.Join(lines, "\n")
	fence := strings.Repeat("`", max(3, longestRun(shown)+1))
	return fence + "text\n" + shown + "\n" + fence + "\n"
}

// longestRun is how many backticks stand behind one another at most.
func longestRun(text string) int {
	longest, run := 0, 0
	for _, r := range text {
		if r != '`' {
			run = 0
			continue
		}
		run++
		longest = max(longest, run)
	}
	return longest
}
