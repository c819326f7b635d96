package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/e2e/bench/measure"
	"github.com/defaultplan/defaultplan/e2e/bench/page"
	"github.com/defaultplan/defaultplan/e2e/stack"
)

// flatGoal is how many times as much memory for each further instance, or time for a create, the
// largest number of instances may take as the one before, or the smallest.
const flatGoal = 1.3

// measureScale measures each step of the curve on one stack, which is filled up from step to step.
func measureScale(ctx context.Context, b *bench) error {
	return onStore(ctx, b, func(s *store) error {
		c := &curve{store: s, size: b.size.scale}
		for _, instances := range c.size.instances {
			if err := c.step(ctx, instances); err != nil {
				return fmt.Errorf("with %d instances: %w", instances, err)
			}
		}
		c.tell(b)
		return nil
	})
}

// A curve is what each number of instances costs.
type curve struct {
	*store

	size   scaleSizes
	steps  []float64
	panels []page.Panel
}

// add takes down one measure of the present step, and says so at once: a step takes long.
func (c *curve) add(title, unit string, value float64) {
	fmt.Fprintf(os.Stderr, "bench: with %.0f instances, %s: %.3g %s\n", c.steps[len(c.steps)-1], title, value, unit)
	i := slices.IndexFunc(c.panels, func(p page.Panel) bool { return p.Title == title })
	if i < 0 {
		c.panels, i = append(c.panels, page.Panel{Title: title, Unit: unit}), len(c.panels)
	}
	c.panels[i].X, c.panels[i].Y = append(c.panels[i].X, c.steps[len(c.steps)-1]), append(c.panels[i].Y, value)
}

// memoryOf is the title of the memory of one of our processes.
func memoryOf(process string) string { return "memory of the " + strings.TrimSuffix(process, "-0") }

// values are those of one measure.
func (c *curve) values(title string) []float64 {
	for _, p := range c.panels {
		if p.Title == title {
			return p.Y
		}
	}
	return nil
}

func (c *curve) step(ctx context.Context, instances int) error {
	const tenth = 10
	if err := c.fill(ctx, instances, instances/tenth); err != nil {
		return err
	}
	c.steps = append(c.steps, float64(instances))
	for _, measure := range []func(context.Context) error{c.starts, c.rests, c.relists, c.creates, c.failsOver, c.halves, c.prints} {
		if err := measure(ctx); err != nil {
			return err
		}
	}
	return nil
}

// starts ends webhook, keeper and controller and starts them again, so that what the step before left in memory is gone.
func (c *curve) starts(ctx context.Context) error {
	if err := c.StopWebhook(ctx, 0, syscall.SIGTERM); err != nil {
		return err //nolint:wrapcheck // it says what failed
	}
	if err := c.Keeper().Stop(ctx, syscall.SIGTERM); err != nil {
		return err //nolint:wrapcheck // it says what failed
	}
	began := time.Now()
	if err := c.StartWebhook(ctx, 0); err != nil {
		return err //nolint:wrapcheck // it says what failed
	}
	if err := c.Client().Create(ctx, c.next("decided"), client.DryRunAll); err != nil {
		return fmt.Errorf("cannot try the webhook: %w", err)
	}
	c.add("start to first decision", "s", time.Since(began).Seconds())
	if err := c.Keeper().Start(ctx); err != nil {
		return err //nolint:wrapcheck // it says what failed
	}
	if err := c.Client().Create(ctx, c.next("called")); err != nil {
		return fmt.Errorf("cannot create an instance: %w", err)
	}
	took, err := c.untilCall(ctx, func() error { return c.controller.Launch(ctx) })
	if err != nil {
		return err
	}
	c.add("start to first broker call", "s", took.Seconds())
	return c.controller.Ready(ctx) //nolint:wrapcheck // it says what failed
}

// next is an instance of a name that this step alone has.
func (c *curve) next(prefix string) *api.ServiceInstance {
	return byType(marketNamespace, fmt.Sprintf("%s-%d", prefix, len(c.steps)))
}

// untilCall is the time from the beginning of work to the next request to provision.
func (c *curve) untilCall(ctx context.Context, work func() error) (time.Duration, error) {
	select {
	case <-c.brokers.provisioned: // an earlier one
	default:
	}
	began := time.Now()
	if err := work(); err != nil {
		return 0, err
	}
	ctx, cancel := context.WithTimeout(ctx, marketPatience)
	defer cancel()
	select {
	case called := <-c.brokers.provisioned:
		return called.Sub(began), nil
	case <-ctx.Done():
		return 0, fmt.Errorf("the broker was not called: %w", context.Cause(ctx))
	}
}

// rests tells what the processes take while nothing happens.
func (c *curve) rests(ctx context.Context) error {
	if err := pause(ctx, c.size.settle); err != nil {
		return err
	}
	q, err := c.watchRest(ctx, c.size.window)
	if err != nil {
		return err
	}
	for _, name := range ourProcesses {
		resident, err := c.resident(name)
		if err != nil {
			return err
		}
		c.add(memoryOf(name), "MB", resident)
	}
	c.add("processor time at rest", "% of a core", 100*q.cpu.Total().Seconds()/q.took.Seconds())
	return nil
}

// creates tells how long creates by type take, one after the other.
func (c *curve) creates(ctx context.Context) error {
	taken := make([]float64, 0, c.size.creates)
	for n := range c.size.creates {
		instance := c.next(fmt.Sprintf("created-%d", n))
		began := time.Now()
		if err := c.Client().Create(ctx, instance); err != nil {
			return fmt.Errorf("cannot create an instance: %w", err)
		}
		taken = append(taken, milliseconds(time.Since(began)))
	}
	c.add("create by type, p50", "ms", measure.Quantile(taken, .5))
	c.add("create by type, p99", "ms", measure.Quantile(taken, .99))
	return nil
}

// relists tells how long the relist of an unchanged catalog takes.
func (c *curve) relists(ctx context.Context) error {
	broker := &api.ClusterServiceBroker{}
	broker.Name = largeBroker
	began := time.Now()
	patch := fmt.Appendf(nil, `{"spec":{"relistRequests":%d}}`, len(c.steps))
	if err := c.Client().Patch(ctx, broker, client.RawPatch("application/merge-patch+json", patch)); err != nil {
		return fmt.Errorf("cannot ask for a relist: %w", err)
	}
	if err := c.listed(ctx, broker); err != nil {
		return err
	}
	c.add("relist", "s", time.Since(began).Seconds())
	return nil
}

// failsOver kills the controller that leads, and tells when another calls the broker.
func (c *curve) failsOver(ctx context.Context) error {
	other, err := c.StartController(ctx, stack.ControllerOptions{Name: "successor", Args: []string{elected, allowLoopback}})
	if err != nil {
		return err //nolint:wrapcheck // it says what failed
	}
	if err := pause(ctx, c.size.settle); err != nil {
		return err
	}
	if err := c.controller.Stop(ctx, syscall.SIGKILL); err != nil {
		return err //nolint:wrapcheck // it says what failed
	}
	took, err := c.untilCall(ctx, func() error { return c.Client().Create(ctx, c.next("taken-over")) })
	if err != nil {
		return err
	}
	c.add("failover", "s", took.Seconds())
	if err := other.Stop(ctx, syscall.SIGTERM); err != nil {
		return err //nolint:wrapcheck // it says what failed
	}
	return c.controller.Start(ctx) //nolint:wrapcheck // it says what failed
}

// halves tells what each of two controllers takes that have half of the namespaces, in place of one for all.
// They call no broker: controllers of some namespaces leave the cluster's brokers to others.
func (c *curve) halves(ctx context.Context) error {
	if err := c.controller.Stop(ctx, syscall.SIGTERM); err != nil {
		return err //nolint:wrapcheck // it says what failed
	}
	halves := make([]*stack.Controller, len(storedNamespaces))
	for i, namespace := range storedNamespaces {
		var err error
		if halves[i], err = c.StartController(ctx, stack.ControllerOptions{
			Name: namespace, Args: []string{"--namespaces=" + namespace, "--cluster-id=bench", allowLoopback},
		}); err != nil {
			return err //nolint:wrapcheck // it says what failed
		}
	}
	if err := pause(ctx, c.size.settle); err != nil {
		return err
	}
	var most float64
	for i, namespace := range storedNamespaces {
		resident, err := c.resident(namespace)
		if err != nil {
			return err
		}
		most = max(most, resident)
		if err := halves[i].Stop(ctx, syscall.SIGTERM); err != nil {
			return err //nolint:wrapcheck // it says what failed
		}
	}
	c.add(memoryOfHalf, "MB", most)
	return c.controller.Start(ctx) //nolint:wrapcheck // it says what failed
}

// memoryOfHalf is the title of the memory of one of two controllers.
const memoryOfHalf = "memory of one of two controllers"

// resident is the memory that a process occupies, in MB.
func (c *curve) resident(name string) (float64, error) {
	pid, err := c.Pid(name)
	if err != nil {
		return 0, err //nolint:wrapcheck // it says what failed
	}
	return measure.Memory(pid, measure.ResidentNow)
}

// prints tells how long a user waits for svcat, once the controller that was just started looked at all.
func (c *curve) prints(ctx context.Context) error {
	if err := pause(ctx, c.size.settle); err != nil {
		return err
	}
	for _, one := range []struct {
		title string
		args  []string
	}{
		{"svcat get instances", []string{"get", "instances", "--all-namespaces"}},
		{"svcat explain", []string{"explain", marketType}},
		{"svcat check", []string{"check"}},
	} {
		t, err := typed(ctx, c.Stack, c.size.runs, "svcat", one.args...)
		if err != nil {
			return err
		}
		c.add(one.title, "s", t.median)
	}
	return nil
}

// tell adds a row for each measure: its last value, with those before.
func (c *curve) tell(b *bench) {
	b.panels = c.panels
	last := strconv.FormatFloat(c.steps[len(c.steps)-1], 'f', -1, 64)
	for _, p := range c.panels {
		all := make([]string, len(p.Y))
		for i := range p.Y {
			all[i] = fmt.Sprintf("%.0f: %.3g", p.X[i], p.Y[i])
		}
		b.table.Add(measure.Row{What: "with " + last + " instances, " + p.Title, Value: p.Y[len(p.Y)-1], Unit: p.Unit, Detail: strings.Join(all, ", ")})
	}
	c.tellGrowth(b)
}

// tellGrowth compares the steps: flat in latency, and linear or better in memory.
func (c *curve) tellGrowth(b *bench) {
	n := len(c.steps)
	if n < 2 {
		return
	}
	latencies := c.values("create by type, p50")
	b.table.Add(measure.Row{
		What: "  create by type, p50, beside the fewest", Value: latencies[n-1] / latencies[0], Unit: "×", Bound: measure.AtMost, Goal: flatGoal,
		Detail: fmt.Sprintf("with %.0f instances and with %.0f", c.steps[n-1], c.steps[0]),
	})
	memory := c.values(memoryOf(controllerProcess))
	const gib = float64(1<<30) / 1e6
	perMB := (c.steps[n-1] - c.steps[n-2]) / (memory[n-1] - memory[n-2])
	b.table.Add(measure.Row{
		What: "  instances in 1 GiB of one controller", Value: c.steps[n-1] + (gib-memory[n-1])*perMB,
		Detail: fmt.Sprintf("with bindings for a tenth; %.0f MB with %.0f instances, and as much for each further one as from %.0f on", memory[n-1], c.steps[n-1], c.steps[n-2]),
	})
	half := c.values(memoryOfHalf)
	b.table.Add(measure.Row{
		What: "  memory of each of two controllers, beside one", Value: half[n-1] / memory[n-1], Unit: "×",
		Detail: fmt.Sprintf("%.0f MB in place of %.0f MB with %.0f instances: each has half of the namespaces in its caches, and no broker to call", half[n-1], memory[n-1], c.steps[n-1]),
	})
	if n < 3 {
		return
	}
	for _, name := range ourProcesses {
		title := memoryOf(name)
		memory := c.values(title)
		each := func(i int) float64 { return 1e3 * (memory[i] - memory[i-1]) / (c.steps[i] - c.steps[i-1]) }
		b.table.Add(measure.Row{
			What: "  " + title + ", for each further instance", Value: each(n - 1), Unit: "kB", Bound: measure.AtMost, Goal: flatGoal * each(n-2),
			Detail: fmt.Sprintf("from %.0f to %.0f; the goal is %.1f × what each took from %.0f to %.0f", c.steps[n-2], c.steps[n-1], flatGoal, c.steps[n-3], c.steps[n-2]),
		})
	}
}
