// Package ui_test has what svcat ui promises to its users, in a real browser.
package ui_test

import (
	"context"
	"fmt"
	"os"
	"testing"

	"github.com/defaultplan/defaultplan/e2e/stack"
	"github.com/defaultplan/defaultplan/e2e/stack/suite"
)

// chromium is the browser that tests share.
var chromium context.Context

// axe finds what is wrong with the accessibility of a page; empty where it is skipped.
var axe string

func TestMain(m *testing.M) {
	path, err := suite.Chromium()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	if path == "" {
		return // suite.Chromium has reported what is skipped
	}
	if axe, err = suite.Axe(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	suite.Main(m, suite.Options{
		Binaries: []string{"svcat"}, Parallel: 4, Stack: stack.Options{Webhooks: 1},
		Setup: func(ctx context.Context, s *stack.Stack) error { return openBrowser(ctx, s, path) },
	})
}

func openBrowser(ctx context.Context, s *stack.Stack, path string) error {
	browser, end, err := startBrowser(ctx, path, s.Path("browser"))
	if err != nil {
		return fmt.Errorf("cannot start %s: %w", path, err)
	}
	s.AtStop(func(context.Context) error { return end() })
	chromium = browser //nolint:fatcontext // it is set once
	return nil
}
