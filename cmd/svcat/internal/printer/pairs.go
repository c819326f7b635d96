package printer

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"github.com/defaultplan/defaultplan/cmd/svcat/internal/termtext"
)

// Pairs is a list of names and their values, one a line, with the values below each
// other.
type Pairs struct{ list [][2]string }

// Add appends a pair; the name ends in what it should, as in "Name:".
func (p *Pairs) Add(name, value string) {
	p.list = append(p.list, [2]string{termtext.Line(name), termtext.Line(value)})
}

// AddSet is Add where there is a value.
func (p *Pairs) AddSet(name, value string) {
	if value != "" {
		p.Add(name, value)
	}
}

// Len is the number of pairs.
func (p *Pairs) Len() int { return len(p.list) }

// All are the pairs, as they are printed.
func (p *Pairs) All() [][2]string { return p.list }

// Write writes the list.
func (p *Pairs) Write(w io.Writer) error {
	widest := 0
	for _, pair := range p.list {
		widest = max(widest, width(pair[0]))
	}
	buffered := bufio.NewWriter(w)
	for _, pair := range p.list {
		_, _ = buffered.WriteString(strings.TrimRight("  "+left(pair[0], widest-width(pair[0]))+"   "+pair[1], " ") + "\n")
	}
	if err := buffered.Flush(); err != nil {
		return fmt.Errorf("cannot write a list: %w", err)
	}
	return nil
}
