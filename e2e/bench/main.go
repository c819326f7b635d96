package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/go-logr/logr"
	"github.com/spf13/cobra"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/defaultplan/defaultplan/e2e/bench/holder"
	"github.com/defaultplan/defaultplan/e2e/bench/measure"
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
	command.AddCommand(rawhook.Command(), holder.Command(), brokerCommand())
	return command
}

// A bench is one run.
type bench struct {
	bin      string
	only     []string
	pairs    int
	smallest bool

	size   sizes
	places places
	table  measure.Table
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
	{"failing", measureForEver},
	{"rest", measureRest},
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
	b.size = judged
	if b.smallest {
		b.size, b.table.Unjudged = smallest, true
	}
	if err := b.places.end(b.measure(ctx, wanted)); err != nil {
		return err
	}
	if err := b.table.Print(os.Stdout); err != nil {
		return err
	}
	if b.table.Missed() {
		return errMissed
	}
	return nil
}

// measure runs the parts, one after the other.
func (b *bench) measure(ctx context.Context, parts []stage) error {
	for _, s := range parts {
		fmt.Fprintf(os.Stderr, "bench: measuring %s\n", s.name)
		began := time.Now()
		b.table.Begin(s.name)
		if err := s.run(ctx, b); err != nil {
			return fmt.Errorf("cannot measure %q: %w", s.name, err)
		}
		fmt.Fprintf(os.Stderr, "bench: %s took %.1f s\n", s.name, time.Since(began).Seconds())
	}
	return nil
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
