package controller

import (
	"sync"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

// restsPerSecond bounds how many objects that rest are looked at again in a second, each by a read or a few of the API
// server: with 10,000 bindings every one is looked at within eleven minutes. Where namespaces have different numbers of
// objects, it may be up to twice as many: see pause.
const restsPerSecond = 16

// rests counts the objects that are looked at again in time, because no watch tells of what they depend on.
type rests struct {
	mutex sync.Mutex
	known map[client.ObjectKey]struct{}
	// in is how many of them a namespace has.
	in map[string]int
}

// pause is how long an object rests that comes to rest now: at least so long, and longer where many do. Each namespace
// has the same share of the looks, so that one with many objects does not delay those of the others. What the others do
// not use of theirs is not lost: no object rests for longer than it would if all shared all looks.
func (r *rests) pause(o client.Object, least time.Duration) time.Duration {
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
	return max(least, time.Duration(before)*time.Second/restsPerSecond)
}

// forget is of an object that does not rest now, and may be gone.
func (r *rests) forget(at client.ObjectKey) {
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

// count is how many objects rest.
func (r *rests) count() int {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	return len(r.known)
}
