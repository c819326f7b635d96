package importing

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/term"

	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
)

// longestAnswer bounds what is read of an answer.
const longestAnswer = 64 << 10

// askHidden asks a person at a terminal for a word, such as a password, which is not shown while
// it is typed. Ctrl-C ends the wait; the read itself cannot be cancelled.
func askHidden(ctx context.Context, env *cli.Env, text string) (string, error) {
	if _, err := fmt.Fprintf(env.ErrOut, "%s: ", text); err != nil {
		return "", fmt.Errorf("cannot ask: %w", err)
	}
	type reply struct {
		word string
		err  error
	}
	restore := keepTerminal(env.In)
	read := hiddenLine(env.In)
	answered := make(chan reply, 1)
	go func() {
		word, err := read()
		answered <- reply{word, err}
	}()
	select {
	case <-ctx.Done():
		restore()
		return "", ctx.Err()
	case said := <-answered:
		_, _ = fmt.Fprintln(env.ErrOut)
		if said.err == nil && said.word == "" {
			said.err = errors.New("nothing was typed")
		}
		return said.word, said.err
	}
}

// hiddenLine returns what reads a line, without an echo where it comes from a terminal. It may
// outlive the question, so it holds no file that its caller closes.
func hiddenLine(in io.Reader) func() (string, error) {
	if file, is := in.(*os.File); is && term.IsTerminal(int(file.Fd())) {
		terminal := int(file.Fd())
		return func() (string, error) {
			word, err := term.ReadPassword(terminal)
			return string(word), err
		}
	}
	return func() (string, error) { return line(in) }
}

// line reads a line of what is no terminal.
func line(in io.Reader) (string, error) {
	// One byte at a time: what follows the line is for the next question.
	var text strings.Builder
	for one := make([]byte, 1); text.Len() < longestAnswer; {
		n, err := in.Read(one)
		if n == 1 && one[0] == '\n' {
			break
		}
		text.Write(one[:n])
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return "", err
		}
	}
	return strings.TrimSuffix(text.String(), "\r"), nil
}

// keepTerminal returns what sets the terminal back, which shows what is typed.
func keepTerminal(in io.Reader) func() {
	file, is := in.(*os.File)
	if !is {
		return func() {}
	}
	state, err := term.GetState(int(file.Fd()))
	if err != nil {
		return func() {}
	}
	return func() { _ = term.Restore(int(file.Fd()), state) }
}
