package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
)

// A Question asks for confirmation before something that cannot be undone.
type Question struct {
	// Text says what would be done, and ends in the question.
	Text string
	// Where is what asks, and Instead what to do where nothing can be asked, in a script.
	Where, Instead string
}

// Ask returns nil if the answer is yes. It asks only where a person can type an answer.
func (q *Question) Ask(ctx context.Context, env *Env) error {
	if !env.Interactive() {
		return Usagef("%s asks first, and there is no terminal to ask at: %s", q.Where, q.Instead)
	}
	if _, err := fmt.Fprintf(env.ErrOut, "%s [y/N]: ", q.Text); err != nil {
		return fmt.Errorf("cannot ask: %w", err)
	}
	return answer(ctx, env.In)
}

// answer waits for a yes. Ctrl-C ends the wait; the read itself cannot be cancelled.
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
