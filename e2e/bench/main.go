package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/go-logr/logr"
	"github.com/spf13/cobra"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/defaultplan/defaultplan/e2e/bench/holder"
	"github.com/defaultplan/defaultplan/e2e/bench/measure"
	"github.com/defaultplan/defaultplan/e2e/bench/page"
	"github.com/defaultplan/defaultplan/e2e/bench/rawhook"
)

var errMissed = errors.New("a goal was missed")

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := newCommand().ExecuteContext(ctx)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// newCommand is the command and its two servants, which it starts as processes
// of their own: the raw hook, and a process that holds a catalog.
func newCommand() *cobra.Command {
	var b bench
	command := &cobra.Command{
		Use:   "bench",
		Short: "Measure DESIGN.md section 9, as ratios in one run; exits 1 where a goal is missed",
		Args:  cobra.NoArgs,
		RunE:  func(c *cobra.Command, _ []string) error { return b.run(c.Context()) },

		SilenceUsage: true, SilenceErrors: true,
	}
	command.Flags().StringVar(&b.bin, "bin", "bin", "folder of the built binaries")
	command.Flags().StringSliceVar(&b.only, "only", nil, "parts to run: "+partNames()+"; empty means all")
	command.Flags().IntVar(&b.pairs, "pairs", 0, "pairs of batches for each ratio; 0 means what the goals are judged by")
	command.Flags().BoolVar(&b.smallest, "smallest", false, "run each part once, with the least that runs all of it, and judge no goal: what cannot run fails")
	command.Flags().IntSliceVar(&b.scale, "scale", judged.scale.instances, "numbers of instances of part scale, in ascending order; memory is judged from three on")
	command.Flags().StringVar(&b.page, "page", "", "page, such as docs/performance.md, whose block is written; parts that are not run stay there as they are")
	command.AddCommand(rawhook.Command(), holder.Command(), brokerCommand())
	return command
}

// A bench is one run.
type bench struct {
	bin      string
	only     []string
	pairs    int
	smallest bool
	scale    []int
	page     string

	size   sizes
	origin page.Origin
	places places
	table  measure.Table
	// panels are the curve of part scale.
	panels []page.Panel
}

// A stage is a group of measurements that the flag --only can name.
type stage struct {
	name string
	run  func(context.Context, *bench) error
}

var stages = []stage{
	{"reviews", measureReviews},
	{"bindings", measureBindings},
	{"policies", measurePolicies},
	{"creates", measureCreates},
	{"plans", measurePlans},
	{"apiserver", measureThroughAPIServer},
	{"instances", measureInstances},
	{"fair", measureFair},
	{"hostile", measureHostile},
	{"relist", measureRelist},
	{"svcat", measureSvcat},
	{"simulate", measureSimulate},
	{"failing", measureForEver},
	{"rest", measureRest},
	{"scale", measureScale},
}

func partNames() string {
	names := make([]string, len(stages))
	for i, s := range stages {
		names[i] = s.name
	}
	return strings.Join(names, ", ")
}

func (b *bench) run(ctx context.Context) error {
	ctrl.SetLogger(logr.Discard())
	wanted, err := b.wanted()
	if err != nil {
		return err
	}
	if err := b.choose(); err != nil {
		return err
	}
	if b.origin, err = b.originNow(ctx); err != nil {
		return err
	}
	measured, err := b.measure(ctx, wanted)
	if err := b.report(ctx, measured, b.places.end(err)); err != nil {
		return err
	}
	if b.table.Missed() {
		return errMissed
	}
	return nil
}

// report prints and writes what was measured, also where a later part could not be: a run takes long.
func (b *bench) report(ctx context.Context, measured []stage, err error) error {
	err = errors.Join(err, b.table.Print(os.Stdout))
	if b.page != "" && len(measured) > 0 {
		err = errors.Join(err, b.writePage(context.WithoutCancel(ctx), measured))
	}
	return err
}

// choose chooses the sizes by the flags.
func (b *bench) choose() error {
	if b.page != "" && (b.smallest || b.pairs > 0) {
		return errors.New("--page goes neither with --smallest nor with --pairs: it would publish what the goals are not judged by")
	}
	if b.smallest {
		b.size, b.table.Unjudged = smallest, true
		return nil
	}
	if len(b.scale) == 0 || b.scale[0] < 1 || !ascending(b.scale) {
		return fmt.Errorf("--scale is %v; allowed are numbers from 1, each larger than the one before", b.scale)
	}
	b.size = judged
	b.size.scale.instances = b.scale
	return nil
}

func ascending(numbers []int) bool {
	return slices.IsSorted(numbers) && len(slices.Compact(slices.Clone(numbers))) == len(numbers)
}

// measure runs the parts, one after the other, and returns those that could be measured.
func (b *bench) measure(ctx context.Context, parts []stage) ([]stage, error) {
	for i, s := range parts {
		fmt.Fprintf(os.Stderr, "bench: measuring %s\n", s.name)
		began := time.Now()
		b.table.Begin(s.name)
		if err := s.run(ctx, b); err != nil {
			return parts[:i], fmt.Errorf("cannot measure %q: %w", s.name, err)
		}
		fmt.Fprintf(os.Stderr, "bench: %s took %.1f s\n", s.name, time.Since(began).Seconds())
	}
	return parts, nil
}

func (b *bench) wanted() ([]stage, error) {
	if len(b.only) == 0 {
		return stages, nil
	}
	byName := map[string]stage{}
	for _, s := range stages {
		byName[s.name] = s
	}
	wanted := make([]stage, 0, len(b.only))
	for _, name := range b.only {
		s, known := byName[name]
		if !known {
			return nil, fmt.Errorf("--only has %q; allowed are %s", name, partNames())
		}
		wanted = append(wanted, s)
	}
	return wanted, nil
}

// rounds is how many pairs of batches a ratio takes, unless --pairs says
// otherwise.
func (b *bench) rounds(judged int) int {
	if b.pairs > 0 {
		return b.pairs
	}
	return judged
}

// originNow is the origin of what is measured now; a run that writes no page needs none.
func (b *bench) originNow(ctx context.Context) (page.Origin, error) {
	if b.page == "" {
		return page.Origin{}, nil
	}
	return page.Here(ctx, b.page, b.curve())
}

// curve is the file with the curve of part scale.
func (b *bench) curve() string {
	return strings.TrimSuffix(b.page, filepath.Ext(b.page)) + "-scale.svg"
}

// writePage writes what was measured into the page, and the curve beside it.
func (b *bench) writePage(ctx context.Context, measured []stage) error {
	now, err := b.originNow(ctx)
	if err != nil {
		return err
	}
	if now.Commit != b.origin.Commit {
		return fmt.Errorf("cannot write %s: the run began at commit %s and ended at %s", b.page, b.origin.Commit, now.Commit)
	}
	parts := make([]page.Part, len(measured))
	for i, s := range measured {
		parts[i] = page.Part{Name: s.name, Rows: b.table.Rows(s.name), Origin: b.origin}
		if s.name == "scale" {
			parts[i].Curve = filepath.Base(b.curve())
		}
	}
	before, err := os.ReadFile(b.page)
	if err != nil {
		return fmt.Errorf("cannot read the page: %w", err)
	}
	after, err := page.Write(string(before), strings.Split(partNames(), ", "), parts)
	if err != nil {
		return fmt.Errorf("cannot write %s: %w", b.page, err)
	}
	if len(b.panels) > 0 {
		if err := os.WriteFile(b.curve(), []byte(page.Draw(b.panels)), 0o644); err != nil { //nolint:gosec // a page that everybody reads
			return fmt.Errorf("cannot write the curve: %w", err)
		}
	}
	if err := os.WriteFile(b.page, []byte(after), 0o644); err != nil { //nolint:gosec // a page that everybody reads
		return fmt.Errorf("cannot write the page: %w", err)
	}
	return nil
}
