package world

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"time"

	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"

	"github.com/defaultplan/defaultplan/webhook/keeper/controller"
)

// A driven controller is run step by step, by who writes what.
type driven interface {
	// hear enqueues because of a write.
	hear(ctx context.Context, w *written)
	// step handles one item; false: none is ready.
	step(ctx context.Context) (item string, did bool)
	due() (time.Time, bool)
	retry() bool
	failures() []error
}

// A written object is one write: nil before a create, and after a removal.
type written struct{ before, after client.Object }

func (w *written) either() client.Object {
	if w.after != nil {
		return w.after
	}
	return w.before
}

// A control drives a controller.
type control[R comparable] struct {
	spec  *controller.Spec[R]
	queue *queue[R]
}

// drive makes a controller ready. What it would do at its start is left out: the state
// comes from a cluster in which it runs.
func drive[R comparable](spec *controller.Spec[R], now *clocktesting.FakeClock) driven {
	c := &control[R]{spec, newQueue(now, spec.Order)}
	spec.Begin(c.queue)
	for c.queue.Len() > 0 {
		c.queue.Get()
	}
	return c
}

func (c *control[R]) hear(ctx context.Context, w *written) {
	for _, watch := range c.spec.Watches {
		if reflect.TypeOf(watch.Object) != reflect.TypeOf(w.either()) {
			continue
		}
		switch {
		case w.before == nil:
			if watch.When.Create(event.CreateEvent{Object: w.after}) {
				watch.Enqueue(ctx, c.queue, w.after)
			}
		case w.after == nil:
			if watch.When.Delete(event.DeleteEvent{Object: w.before}) {
				watch.Enqueue(ctx, c.queue, w.before)
			}
		case watch.When.Update(event.UpdateEvent{ObjectOld: w.before, ObjectNew: w.after}):
			watch.Enqueue(ctx, c.queue, w.before, w.after)
		}
	}
}

func (c *control[R]) step(ctx context.Context) (string, bool) {
	if c.queue.Len() == 0 {
		return "", false
	}
	item, _ := c.queue.Get()
	result, err := c.spec.Do(ctx, item)
	switch {
	case err != nil:
		c.queue.failed[item] = err
	case result.RequeueAfter > 0:
		c.queue.AddAfter(item, result.RequeueAfter)
	}
	return fmt.Sprintf("%s %v", c.spec.Name, item), true
}

func (c *control[R]) due() (time.Time, bool) { return c.queue.due() }

func (c *control[R]) retry() bool { return c.queue.retry() }

func (c *control[R]) failures() []error {
	var all []error
	for _, err := range c.queue.failed {
		all = append(all, err)
	}
	return all
}

const (
	// quiet is how long nothing may be written until the controllers are at rest. What is
	// due later is a periodic sweep, which finds what no write tells.
	quiet = 30 * time.Second
	// stepsPerObject and fewestSteps bound how long controllers may go on after one change.
	stepsPerObject, fewestSteps = 20, 10_000
)

// errRestless is of controllers that go on without end.
var errRestless = errors.New("the controllers do not come to rest")

// A driver runs controllers until nothing is left to do.
type driver struct {
	clock    *clocktesting.FakeClock
	controls []driven
	// heard are writes that no controller knows of yet.
	heard []written
	// wrote is when anything was written, and writes how often.
	wrote  time.Time
	writes int
}

func (d *driver) write(w written) {
	d.heard = append(d.heard, w)
	d.wrote = d.clock.Now()
	d.writes++
}

// settle runs the controllers until they are at rest, in so many steps at most for so many
// objects.
func (d *driver) settle(ctx context.Context, objects int) error {
	retried := d.writes
	for left := fewestSteps + stepsPerObject*objects; left > 0; left-- {
		if err := ctx.Err(); err != nil {
			return err //nolint:wrapcheck // it says enough
		}
		item, did := d.step(ctx)
		switch {
		case did && left == 1:
			return fmt.Errorf("cannot simulate further than %s: %w", item, errRestless)
		case did || d.advance():
		case d.writes > retried && d.retry():
			retried = d.writes
		default:
			return nil
		}
	}
	return errRestless
}

// step tells the controllers of what was written, and has each handle one item.
func (d *driver) step(ctx context.Context) (item string, did bool) {
	for _, c := range d.controls {
		d.tell(ctx)
		if at, stepped := c.step(ctx); stepped {
			item, did = at, true
		}
	}
	d.tell(ctx)
	return item, did
}

func (d *driver) tell(ctx context.Context) {
	for len(d.heard) > 0 {
		now := d.heard
		d.heard = nil
		for i := range now {
			for _, c := range d.controls {
				c.hear(ctx, &now[i])
			}
		}
	}
}

// advance goes on to when the next item is due; false: none is before the controllers are
// at rest.
func (d *driver) advance() bool {
	var next time.Time
	for _, c := range d.controls {
		if at, is := c.due(); is && (next.IsZero() || at.Before(next)) {
			next = at
		}
	}
	if next.IsZero() || next.After(d.wrote.Add(quiet)) {
		return false
	}
	d.clock.SetTime(next)
	for _, c := range d.controls {
		c.due()
	}
	return true
}

func (d *driver) retry() (some bool) {
	for _, c := range d.controls {
		some = c.retry() || some
	}
	return some
}

// failures are what could not be done.
func (d *driver) failures() []error {
	var all []error
	for _, c := range d.controls {
		all = append(all, c.failures()...)
	}
	return all
}
