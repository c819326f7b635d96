package resync

import (
	"sync"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

// PerSecond bounds how many objects that a change may concern are reconciled per second.
const PerSecond = 16

// restingPerSecond bounds how many resting objects are reconciled again per
// second, each with a read of the API server and two to three milliseconds of a
// slow processor: with 10,000 bindings each is reconciled within 21 minutes. If
// namespaces have different numbers of objects, it may be up to twice as many:
// see After.
const restingPerSecond = 8

// A Schedule counts the objects that are reconciled periodically, because they
// depend on what has no watch.
type Schedule struct {
	mutex sync.Mutex
	known map[client.ObjectKey]struct{}
	// in is how many of them a namespace has.
	in map[string]int
}

// After is the time until the next reconcile of an object: at least the given
// time, and longer if many objects rest. Each namespace has the same share of
// the passes, so that one with many objects does not delay the others. Unused
// shares are not lost: no object rests for longer than if all objects shared
// all passes.
func (r *Schedule) After(o client.Object, least time.Duration) time.Duration {
	at := client.ObjectKeyFromObject(o)
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if _, counted := r.known[at]; !counted {
		if r.known == nil {
			r.known, r.in = map[client.ObjectKey]struct{}{}, map[string]int{}
		}
		r.known[at] = struct{}{}
		r.in[at.Namespace]++
	}
	before := min(r.in[at.Namespace]*len(r.in), len(r.known))
	return max(least, time.Duration(before)*time.Second/restingPerSecond)
}

// Forget removes an object that does not rest now, and may be gone.
func (r *Schedule) Forget(at client.ObjectKey) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if _, counted := r.known[at]; !counted {
		return
	}
	delete(r.known, at)
	if r.in[at.Namespace]--; r.in[at.Namespace] == 0 {
		delete(r.in, at.Namespace)
	}
}

// Count is how many objects rest.
func (r *Schedule) Count() int {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	return len(r.known)
}
