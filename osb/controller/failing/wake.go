package failing

import (
	"context"
	"maps"
	"math/rand/v2"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/defaultplan/defaultplan/osb/controller/resync"
	"github.com/defaultplan/defaultplan/osb/lifecycle"
)

const (
	// leastSpread is the least time over which objects are woken together.
	leastSpread = time.Second
	// changePause is the least time between two attempts of an object that changes bring: a tenant
	// may change its own class as often as it likes. It is longer for one of many at a broker, up to
	// longestPause.
	changePause  = 10 * time.Second
	longestPause = time.Hour
)

// Source gives the set the queue of its controller.
func (s *Set) Source() source.Source {
	return source.Func(func(_ context.Context, requests workqueue.TypedRateLimitingInterface[reconcile.Request]) error {
		s.mutex.Lock()
		defer s.mutex.Unlock()
		s.requests = requests
		return nil
	})
}

// Success wakes the objects that fail although one of the same key did not. One that failed again
// after it was woken is woken by another success some minutes later, unless it made an attempt in its
// own time.
func (s *Set) Success(key Key, now time.Time) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	g := s.groups[key]
	if g == nil {
		return
	}
	for o, e := range g.members {
		at := later(now.Add(jitter(g.share(o.Namespace))), e.successFrom)
		if e.wake.IsZero() || !e.bySuccess && at.Before(e.wake) {
			e.bySuccess = true
			s.wake(o, e, at, now)
		}
	}
}

// Changed wakes an object, for which a class or plan that changed brings a pass after some time.
func (s *Set) Changed(at client.ObjectKey, after time.Duration, now time.Time) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	for _, o := range []Object{{ObjectKey: at}, {ObjectKey: at, Rotating: true}} {
		if e := s.known[o]; e != nil {
			s.change(o, e, now.Add(after), now)
		}
	}
}

// Broker wakes all objects that fail at a broker whose spec changed.
func (s *Set) Broker(broker types.NamespacedName, now time.Time) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	failing := map[Object]*entry{}
	for key, g := range s.groups {
		if key.Broker == broker {
			maps.Copy(failing, g.members)
		}
	}
	for o, e := range failing {
		s.change(o, e, now.Add(jitter(len(failing))), now)
	}
}

// ByBroker handles changes of brokers.
func (s *Set) ByBroker(now clock.PassiveClock) handler.EventHandler {
	type queue = workqueue.TypedRateLimitingInterface[reconcile.Request]
	return handler.Funcs{
		CreateFunc: func(_ context.Context, e event.CreateEvent, _ queue) {
			if !e.IsInInitialList {
				s.Broker(client.ObjectKeyFromObject(e.Object), now.Now())
			}
		},
		UpdateFunc: func(_ context.Context, e event.UpdateEvent, _ queue) {
			s.Broker(client.ObjectKeyFromObject(e.ObjectNew), now.Now())
		},
	}
}

// change wakes an object because of a change. The last one of several that follow each other too
// fast is not lost: it wakes the object later.
func (s *Set) change(o Object, e *entry, at, now time.Time) {
	at = s.notBefore(o, e, at)
	switch {
	case e.changed.After(now) && !e.wake.IsZero(): // it is to be woken by one that came before, or once it is not blocked
		s.enqueue(o, e.wake, now)
	case e.wake.IsZero() || at.Before(e.wake):
		e.changed, e.bySuccess = at, false
		s.wake(o, e, at, now)
	case !e.wake.After(now): // nothing but what changed kept it from an attempt
		e.changed, e.carried = at, false
		s.enqueue(o, at, now)
	}
}

// notBefore is a time, or a later one if a change woke the object not long before.
func (s *Set) notBefore(o Object, e *entry, at time.Time) time.Time {
	share := time.Duration(s.at[namespaceAtBroker{e.Key.Broker, o.Namespace}]) * lifecycle.PausePerObject
	pause := min(max(changePause, share), longestPause)
	if next := e.changed.Add(pause); !e.changed.IsZero() && at.Before(next) {
		return next
	}
	return at
}

// wake has the next attempt of an object not wait for its time, from a time on.
func (s *Set) wake(o Object, e *entry, at, now time.Time) {
	e.wake, e.carried = at, false
	s.enqueue(o, at, now)
}

// enqueue has an object looked at from a time on.
func (s *Set) enqueue(o Object, at, now time.Time) {
	if s.requests != nil {
		s.requests.AddAfter(reconcile.Request{NamespacedName: o.ObjectKey}, at.Sub(now))
	}
}

// jitter is a random time from 0 to so long that resync.PerSecond of so many objects are woken in a
// second.
func jitter(objects int) time.Duration {
	spread := max(leastSpread, time.Duration(objects)*time.Second/resync.PerSecond)
	return time.Duration(rand.Int64N(int64(spread))) //nolint:gosec // it spreads attempts
}
