package ui

import (
	"context"
	"errors"
	"fmt"
	"html/template"
	"os"
	"os/exec"
	"runtime"
	"strings"
)

// referral sends a browser on to an address.
var referral = template.Must(template.New("referral").Parse(`<!doctype html>
<meta charset="utf-8"><meta name="referrer" content="no-referrer">
<meta http-equiv="refresh" content="0; url={{.}}"><title>svcat ui</title>
<p><a href="{{.}}">Go on to the marketplace</a>
`))

// openBrowser has the user's browser go to the address. It is given a file that only
// the user may read: everybody on the machine sees the arguments of a process, and the
// address holds the token. The file stays until the command ends.
func (c *command) openBrowser(ctx context.Context, address string) (err error) {
	file, err := os.CreateTemp("", "svcat-ui-*.html")
	if err != nil {
		return fmt.Errorf("cannot open a browser: %w", err)
	}
	context.AfterFunc(ctx, func() { _ = os.Remove(file.Name()) })
	if err := errors.Join(referral.Execute(file, address), file.Close()); err != nil {
		return fmt.Errorf("cannot open a browser: %w", err)
	}
	if err := c.show(ctx, file.Name()); err != nil {
		return fmt.Errorf("cannot open a browser: %w", err)
	}
	return nil
}

// showFile opens a file as a double click does.
func showFile(ctx context.Context, file string) error {
	words := map[string][]string{"darwin": {"open"}, "windows": {"rundll32", "url.dll,FileProtocolHandler"}}[runtime.GOOS]
	if words == nil {
		words = []string{"xdg-open"}
	}
	words = append(words, file)
	if output, err := exec.CommandContext(ctx, words[0], words[1:]...).CombinedOutput(); err != nil {
		first, _, _ := strings.Cut(strings.TrimSpace(string(output)), "\n")
		return fmt.Errorf("%s: %w %s", words[0], err, first)
	}
	return nil
}
