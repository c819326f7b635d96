// Package ui_test has what svcat ui promises to whoever opens it, in a real browser.
package ui_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/defaultplan/defaultplan/e2e/stack"
)

// shared is the stack that scenarios share.
var shared *stack.Stack

// binFolder is where the binaries are.
var binFolder string

// chromium is the browser that scenarios share.
var chromium context.Context

func TestMain(m *testing.M) {
	scenarios := stack.Scenarios{
		Name: "ui", Up: filepath.Join("..", ".."), AtOnce: 4, Run: run,
		Binaries: []string{"controlplane", "kubectl", "webhook", "svcat"},
	}
	os.Exit(scenarios.Main(m))
}

func run(m *testing.M, dir, bin string) (code int, err error) {
	binFolder = bin
	path, err := exec.LookPath("chromium")
	if err != nil {
		return 1, fmt.Errorf("cannot test a page without a browser: install the Debian package chromium: %w", err)
	}
	ctx := context.Background()
	shared, err = stack.Start(ctx, stack.Options{Dir: filepath.Join(dir, "stack"), Bin: bin, Webhooks: 1})
	if err != nil {
		return 1, err
	}
	defer func() { err = errors.Join(err, shared.Stop()) }()
	browser, end, err := startBrowser(ctx, path, filepath.Join(dir, "browser"))
	if err != nil {
		return 1, fmt.Errorf("cannot start %s: %w", path, err)
	}
	defer func() { err = errors.Join(err, end()) }()
	chromium = browser //nolint:fatcontext // it is set once
	return m.Run(), nil
}
