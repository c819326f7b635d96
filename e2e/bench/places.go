package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/defaultplan/defaultplan/e2e/stack"
)

// An ending stops a stack. It returns the error that it is given with its own, and removes the
// stack's folder if there is none: after a failure the logs in it are worth reading.
type ending func(error) error

// places are what parts that share run on, each started by the first part that needs it.
type places struct {
	site  *site
	fair  *fair
	store *store
	ends  []ending
}

// end stops all of them, after a run that ended with err.
func (p *places) end(err error) error {
	for _, end := range slices.Backward(p.ends) {
		err = end(err)
	}
	return err
}

// on calls work with a place and ends it, or keeps it for the next part.
func on[T any](b *bench, kept **T, start func() (*T, ending, error), work func(*T) error) error {
	if b.size.shared && *kept != nil {
		return work(*kept)
	}
	place, end, err := start()
	if err != nil {
		return err
	}
	if b.size.shared {
		*kept, b.places.ends = place, append(b.places.ends, end)
		return work(place)
	}
	return end(work(place))
}

// onSite calls work with a site.
func onSite(ctx context.Context, b *bench, work func(*site) error) error {
	return on(b, &b.places.site, func() (*site, ending, error) { return startSite(ctx, b.bin) }, work)
}

// onOwnSite is onSite with one that is never shared.
func onOwnSite(ctx context.Context, b *bench, work func(*site) error) error {
	s, end, err := startSite(ctx, b.bin)
	if err != nil {
		return err
	}
	return end(work(s))
}

// onFair calls work with a market of two tenants.
func onFair(ctx context.Context, b *bench, work func(*fair) error) error {
	return on(b, &b.places.fair, func() (*fair, ending, error) {
		dir, err := newFolder()
		if err != nil {
			return nil, nil, err
		}
		return startFair(ctx, stack.Options{Dir: dir, Bin: b.bin, Webhooks: 1})
	}, work)
}

// onStore calls work with a store.
func onStore(ctx context.Context, b *bench, work func(*store) error) error {
	return on(b, &b.places.store, func() (*store, ending, error) { return startStore(ctx, b.bin, b.size.scale.services) }, work)
}

// newFolder makes a folder for a stack.
func newFolder() (string, error) {
	dir, err := os.MkdirTemp("", "defaultplan-bench-")
	if err != nil {
		return "", fmt.Errorf("cannot make a folder: %w", err)
	}
	return dir, nil
}

// leave is an ending of what ran in a folder.
func leave(dir string, stop func() error) ending {
	return func(err error) error {
		if err = errors.Join(err, stop()); err != nil {
			return fmt.Errorf("%w (logs: %s)", err, filepath.Join(dir, "logs"))
		}
		if err := os.RemoveAll(dir); err != nil {
			return fmt.Errorf("cannot remove the folder: %w", err)
		}
		return nil
	}
}

// inFolder calls work with a folder that is removed afterwards, unless work fails.
func inFolder(work func(dir string) error) error {
	dir, err := newFolder()
	if err != nil {
		return err
	}
	return leave(dir, func() error { return nil })(work(dir))
}
