package main

import (
	"context"
	"errors"
	"flag"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	c, err := takeConsole()
	if err != nil {
		c.fail(err)
	}
	o, err := parse(os.Args[1:], c.err)
	if errors.Is(err, flag.ErrHelp) {
		return
	}
	if err != nil {
		c.fail(err)
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	// The first signal ends everything in order; a second one finds Go's own handling and kills.
	context.AfterFunc(ctx, stop)
	if err := o.run(ctx, c); err != nil {
		c.fail(err)
	}
}
