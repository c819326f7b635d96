package cli

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// grace is how long a write that was under way at Ctrl-C may still take: so that it
// is known, almost always, what stands.
const grace = 5 * time.Second

// Whole does a write, or several that belong together, to its end: Ctrl-C does not
// cut it off. Before it nothing is begun; if the API server does not answer within
// a few seconds after Ctrl-C, the error is a *Failure that says of what it is
// not known: "instance \"mydb\" was created".
func Whole(ctx context.Context, what string, write func(context.Context) error) error {
	if ctx.Err() != nil {
		return Untouched(ctx.Err())
	}
	whole, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	stop := context.AfterFunc(ctx, func() { time.AfterFunc(grace, cancel) })
	defer stop()
	err := write(whole)
	if err != nil && whole.Err() != nil {
		return &Failure{ExitInterrupted, fmt.Errorf("interrupted before the API server answered: it is not known whether %s", what)}
	}
	return err
}

// Untouched says of a command that Ctrl-C ended before it wrote anything that
// nothing was changed. Every other error it returns as it is.
func Untouched(err error) error {
	if _, ok := errors.AsType[*Failure](err); ok || !errors.Is(err, context.Canceled) {
		return err
	}
	return &Failure{ExitInterrupted, errors.New("interrupted: nothing was changed")}
}
