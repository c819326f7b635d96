package cli

import (
	"bytes"
	"io"
	"os"
	"regexp"
	"sync"
	"unicode/utf8"

	"golang.org/x/term"
	"k8s.io/cli-runtime/pkg/printers"

	"github.com/defaultplan/defaultplan/cmd/svcat/internal/termtext"
)

// A terminal is a stream that a person reads. What brokers and other people wrote may
// not steer it: only lines, tabs and our colours pass; what else it would obey becomes
// the sign for a character that cannot be shown.
type terminal struct {
	// file is the terminal itself, to be asked what it can; out is where it writes.
	file *os.File
	out  io.Writer

	mutex sync.Mutex
	// begun is the beginning of a character or colour whose end was not written yet.
	begun []byte
}

// shown is stream, made a terminal if it is one. Files and pipes get every byte as it is.
func shown(stream io.Writer) io.Writer {
	if file, ok := stream.(*os.File); ok && printers.IsTerminal(file) {
		return &terminal{file: file, out: file}
	}
	return stream
}

// Interactive says whether a person at a terminal can be asked. Scripts, with input from a file,
// a pipe or /dev/null, are not.
func (e *Env) Interactive() bool {
	file, is := e.In.(*os.File)
	return !is || printers.IsTerminal(file)
}

// Width is how many places a line of standard output has; 0 where it is no terminal, or one
// that does not say.
func (e *Env) Width() int {
	t, is := e.Out.(*terminal)
	if !is {
		return 0
	}
	width, _, err := term.GetSize(int(t.file.Fd()))
	if err != nil {
		return 0
	}
	return width
}

// Write writes text of whole or broken off characters.
func (t *terminal) Write(text []byte) (int, error) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	clean, begun := harmless(append(t.begun, text...))
	t.begun = begun
	if _, err := t.out.Write(clean); err != nil {
		return 0, err
	}
	return len(text), nil
}

var (
	// colour is one of ours, or of the API server's warnings: bright, dim, or one of
	// those that show on any ground. None hides or turns what follows.
	colour = regexp.MustCompile(`^\x1b\[(?:[012]|22|3[1-6]|39)?(?:;(?:[012]|22|3[1-6]|39))*m`)
	// colourBegun is text that may go on to be a colour.
	colourBegun = regexp.MustCompile(`^\x1b(?:\[[0-9;]{0,16})?$`)
)

// harmless is text as a terminal may be given it, but for its end, where that is only
// begun.
func harmless(text []byte) (clean, begun []byte) {
	for len(text) > 0 {
		size := 1
		switch r, width := utf8.DecodeRune(text); {
		case r == '\n' || r == '\t':
			clean = append(clean, text[0])
		case r == '\x1b' && colour.Match(text):
			size = bytes.IndexByte(text, 'm') + 1
			clean = append(clean, text[:size]...)
		case !utf8.FullRune(text) || r == '\x1b' && colourBegun.Match(text):
			return clean, bytes.Clone(text)
		case termtext.Rune(r):
			size = width
			clean = utf8.AppendRune(clean, r)
		default:
			size = width
			clean = utf8.AppendRune(clean, utf8.RuneError)
		}
		text = text[size:]
	}
	return clean, nil
}
