package controller

import (
	"sync"
	"sync/atomic"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

// restsPerSecond bounds how many objects that rest are looked at again in a second, each by a read or a few of the API
// server: with 10,000 bindings every one is looked at within eleven minutes.
const restsPerSecond = 16

// rests counts the objects that are looked at again in time, because no watch tells of what they depend on.
type rests struct {
	known sync.Map
	count atomic.Int64
}

// pause is how long an object rests that comes to rest now: at least so long, and longer where many do.
func (r *rests) pause(o client.Object, least time.Duration) time.Duration {
	if _, counted := r.known.LoadOrStore(client.ObjectKeyFromObject(o), true); !counted {
		r.count.Add(1)
	}
	return max(least, time.Duration(r.count.Load())*time.Second/restsPerSecond)
}

// forget is of an object that does not rest now, and may be gone.
func (r *rests) forget(at client.ObjectKey) {
	if _, counted := r.known.LoadAndDelete(at); counted {
		r.count.Add(-1)
	}
}
