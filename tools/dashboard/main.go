// The dashboard command draws a picture of deploy/monitoring/dashboard.json from live data: it
// scrapes the processes of a playground for a while, during which it makes requests of all kinds,
// and evaluates the panels' queries with Prometheus' own engine. It stands in for Grafana, which
// is not to be had as a module, and draws what the dashboard uses of it.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "dashboard:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	root := flag.String("root", "../..", "folder of the repository, with the binaries in bin/")
	lasts := flag.Duration("for", 4*time.Minute, "how long requests are made and processes scraped; at least two minutes, for rates")
	out := flag.String("out", "../../docs/pictures/dashboard.svg", "file that the picture is written to")
	flag.Parse()
	if *lasts < 2*time.Minute {
		return fmt.Errorf("-for is %s, and must be at least 2m: rates need that long", *lasts)
	}
	path, err := filepath.Abs(*root)
	if err != nil {
		return fmt.Errorf("cannot find -root: %w", err)
	}
	board, err := readDashboard(filepath.Join(path, "deploy", "monitoring", "dashboard.json"))
	if err != nil {
		return err
	}
	data, err := openStore()
	if err != nil {
		return err
	}
	defer data.close()
	began, err := record(ctx, path, *lasts, data)
	if err != nil {
		return err
	}
	picture, err := draw(ctx, board, data, began, time.Now())
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(*out), 0o755); err != nil {
		return fmt.Errorf("cannot make the folder of the picture: %w", err)
	}
	if err := os.WriteFile(*out, []byte(picture), 0o644); err != nil {
		return fmt.Errorf("cannot write the picture: %w", err)
	}
	return nil
}
