// Command pictures makes docs/pictures from what the built programs print and show on a stack of
// its own: terminals, the graph of svcat explain, and the page of svcat ui in Chromium.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
)

const folder = "../../docs/pictures"

// A picture is a file of the folder.
type picture struct {
	name    string
	content []byte
}

func main() {
	check := flag.Bool("check", false, "only compare the terminals and the graph with what the programs print now")
	drawn := flag.String("record", "", "only record of which sources this picture, which another program drew, was made")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	var err error
	if *drawn != "" {
		err = record(os.DirFS("../.."), sumsFile, *drawn)
	} else {
		err = run(ctx, *check)
	}
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "pictures:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, check bool) (err error) {
	s, err := startStack(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.stop(context.WithoutCancel(ctx))) }()
	made, graph, err := terminals(ctx, s)
	if err != nil {
		return err
	}
	if check {
		return compare(folder, made, graph)
	}
	drawn, err := inBrowser(ctx, s, graph)
	if err != nil {
		return err
	}
	for _, p := range append(made, drawn...) {
		if err := os.WriteFile(filepath.Join(folder, p.name), p.content, 0o644); err != nil {
			return err
		}
		fmt.Printf("docs/pictures/%s: %d kB\n", p.name, (len(p.content)+999)/1000)
	}
	var taken []string
	for _, shot := range shots {
		taken = append(taken, shot.name)
	}
	return record(os.DirFS("../.."), sumsFile, taken...)
}

// compare reports the first picture that shows something else than the programs print.
func compare(folder string, made []picture, graph string) error {
	for _, p := range made {
		kept, err := os.ReadFile(filepath.Join(folder, p.name))
		if err != nil {
			return err
		}
		if line := difference(string(kept), string(p.content)); line != "" {
			return fmt.Errorf("docs/pictures/%s is not current, it lacks the line %s: run make pictures", p.name, line)
		}
	}
	kept, err := os.ReadFile(filepath.Join(folder, graphName))
	if err != nil {
		return err
	}
	if !strings.Contains(string(kept), describe(graph)) {
		return fmt.Errorf("docs/pictures/%s is not current, svcat explain -o mermaid prints another graph: run make pictures", graphName)
	}
	return nil
}

// difference is the first line of b that differs from that of a, or what a has more.
func difference(a, b string) string {
	if a == b {
		return ""
	}
	lines := strings.Split(a, "\n")
	for at, line := range strings.Split(b, "\n") {
		if at >= len(lines) || lines[at] != line {
			return line
		}
	}
	return "(its end)"
}
