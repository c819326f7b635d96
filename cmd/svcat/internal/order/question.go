package order

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
)

// A question is asked before something that cannot be taken back.
type question struct {
	// text says what would be done.
	text string
	// where is what asks, and instead what to do where there is no one to ask.
	where, instead string
}

// ask returns nil if the answer was yes; it asks at a terminal only.
func (q *question) ask(ctx context.Context, env *cli.Env) error {
	if file, ok := env.In.(*os.File); ok && !isTerminal(file) {
		return cli.Usagef("%s asks first, and there is no terminal to ask at: %s", q.where, q.instead)
	}
	if _, err := fmt.Fprintf(env.ErrOut, "%s\nAre you sure? [y|n]: ", q.text); err != nil {
		return fmt.Errorf("cannot ask: %w", err)
	}
	return answer(ctx, env.In)
}

// isTerminal says whether a person may type there. A device that is none, such as
// /dev/null, answers nothing, which is no yes.
func isTerminal(file *os.File) bool {
	info, err := file.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// answer reads a yes. Ctrl-C ends it, although the read goes on.
func answer(ctx context.Context, from io.Reader) error {
	answered := make(chan string, 1)
	go func() {
		line, _ := bufio.NewReader(from).ReadString('\n')
		answered <- strings.ToLower(strings.TrimSpace(line))
	}()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case said := <-answered:
		if said == "y" || said == "yes" {
			return nil
		}
		return errors.New("not confirmed: nothing was changed")
	}
}
