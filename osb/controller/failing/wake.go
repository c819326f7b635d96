package failing

import (
	"context"
	"math/rand/v2"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
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
	// may change its own class as often as it likes. It is longer for many that share their attempts.
	changePause = 10 * time.Second
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
// after it was woken makes an attempt in its own time before another success wakes it.
func (s *Set) Success(key Key, now time.Time) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	g := s.groups[key]
	if g == nil {
		return
	}
	for o, e := range g.members {
		if e.wake.IsZero() && !e.woken && !now.Before(e.apart) {
			s.wake(o, e, now.Add(g.jitter(o.Namespace)), now)
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
	for key, g := range s.groups {
		if key.Broker != broker {
			continue
		}
		for o, e := range g.members {
			s.change(o, e, now.Add(g.jitter(o.Namespace)), now)
		}
	}
}

// ByBroker handles changes of brokers.
func (s *Set) ByBroker() handler.EventHandler {
	return handler.Funcs{UpdateFunc: func(_ context.Context, e event.UpdateEvent, _ workqueue.TypedRateLimitingInterface[reconcile.Request]) {
		s.Broker(client.ObjectKeyFromObject(e.ObjectNew), time.Now())
	}}
}

// change wakes an object because of a change. The last one of several that follow each other too
// fast is not lost: it wakes the object later.
func (s *Set) change(o Object, e *entry, at, now time.Time) {
	pause := max(changePause, time.Duration(s.groups[e.Key].share(o.Namespace))*lifecycle.PausePerObject)
	if !e.changed.IsZero() && at.Before(e.changed.Add(pause)) {
		at = e.changed.Add(pause)
	}
	switch {
	case e.changed.After(now) && !e.wake.IsZero(): // it is to be woken by one that came before
	case e.wake.IsZero() || at.Before(e.wake):
		e.changed = at
		s.wake(o, e, at, now)
	}
}

// wake has the next attempt of an object not wait for its time, from a time on.
func (s *Set) wake(o Object, e *entry, at, now time.Time) {
	e.wake = at
	if s.requests != nil {
		s.requests.AddAfter(reconcile.Request{NamespacedName: o.ObjectKey}, at.Sub(now))
	}
}

// jitter is a random time from 0 to so long that resync.PerSecond of the objects are woken in a
// second.
func (g *group) jitter(namespace string) time.Duration {
	spread := max(leastSpread, time.Duration(g.share(namespace))*time.Second/resync.PerSecond)
	return time.Duration(rand.Int64N(int64(spread))) //nolint:gosec // it spreads attempts
}
