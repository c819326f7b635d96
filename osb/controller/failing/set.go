package failing

import (
	"math"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// A Key is what the objects of one kind that fail alike have in common. Class and Plan are IDs at
// the broker; the namespace of a ClusterServiceBroker is empty.
type Key struct {
	Broker      types.NamespacedName
	Class, Plan string
	Deleting    bool
}

// An Object is an instance or binding.
type Object struct {
	client.ObjectKey

	// Rotating says that it is the other binding of a rotation.
	Rotating bool
}

// A Wait is the wait of an object for its next attempt.
type Wait struct {
	Key Key
	// Generation is that of the object: an edit ends the wait.
	Generation int64
	// Until is when the wait ends by itself.
	Until time.Time
}

// A Set has the objects of one kind that fail at present. The zero Set is empty, and ready for use.
type Set struct {
	mutex  sync.Mutex
	known  map[Object]*entry
	groups map[Key]*group
	// requests is the queue of the controller; nil before it starts.
	requests requests
}

// requests is what a Set needs of a controller's queue.
type requests interface {
	AddAfter(request reconcile.Request, after time.Duration)
}

// An entry is an object that fails.
type entry struct {
	Wait

	// wake is from when on the next attempt does not wait for its time; zero: it waits.
	wake time.Time
	// woken says that the attempt under way, or the last one, did not wait for its time.
	woken bool
	// apart is until when no success wakes the object: until its own next attempt.
	apart time.Time
	// changed is when a change last woke it, or is to wake it.
	changed time.Time
}

// A group has the objects of one key.
type group struct {
	members map[Object]*entry
	// in is how many of them a namespace has.
	in map[string]int
}

// share is with how many objects one of a namespace shares the attempts. Each namespace has the
// same part of them, so that one with many failing objects does not delay those of the others.
func (g *group) share(namespace string) int {
	if g == nil {
		return 0
	}
	return min(g.in[namespace]*len(g.in), len(g.members))
}

// Note records that an object waits after an attempt that failed.
func (s *Set) Note(o Object, w Wait) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	e := s.known[o]
	if e != nil && e.Key != w.Key {
		s.forget(o)
		e = nil
	}
	if e == nil {
		e = s.add(o, w.Key)
	}
	if e.woken {
		e.woken, e.apart = false, w.Until
	}
	e.Wait = w
}

func (s *Set) add(o Object, key Key) *entry {
	if s.known == nil {
		s.known, s.groups = map[Object]*entry{}, map[Key]*group{}
	}
	g := s.groups[key]
	if g == nil {
		g = &group{members: map[Object]*entry{}, in: map[string]int{}}
		s.groups[key] = g
	}
	e := &entry{}
	s.known[o], g.members[o] = e, e
	g.in[o.Namespace]++
	return e
}

// Forget removes an object that does not fail any more.
func (s *Set) Forget(o Object) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.forget(o)
}

// Gone removes an object that is gone, with the other binding of its rotation.
func (s *Set) Gone(at client.ObjectKey) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.forget(Object{ObjectKey: at})
	s.forget(Object{ObjectKey: at, Rotating: true})
}

func (s *Set) forget(o Object) {
	e := s.known[o]
	if e == nil {
		return
	}
	delete(s.known, o)
	g := s.groups[e.Key]
	delete(g.members, o)
	if g.in[o.Namespace]--; g.in[o.Namespace] == 0 {
		delete(g.in, o.Namespace)
	}
	if len(g.members) == 0 {
		delete(s.groups, e.Key)
	}
}

// Share is with how many objects, itself included, an object shares the attempts; 0: it has not
// failed for long, and no other of its namespace has.
func (s *Set) Share(o Object, key Key) int32 {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return int32(min(s.groups[key].share(o.Namespace), math.MaxInt32)) //nolint:gosec // it is in the bounds
}

// Wakes is when the next attempt of an object stops waiting for its time; zero: it waits.
func (s *Set) Wakes(o Object, generation int64, now time.Time) time.Time {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	switch e := s.known[o]; {
	case e == nil:
		return time.Time{}
	case e.Generation != generation:
		return now
	default:
		return e.wake
	}
}

// Tried records a call for an object. An attempt begins with the one that waited; what follows it at
// once, such as a mitigation, is a part of the attempt.
func (s *Set) Tried(o Object, generation int64, waited bool, now time.Time) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	e := s.known[o]
	if e == nil {
		return
	}
	e.Generation = generation
	if waited && !e.wake.IsZero() {
		e.wake, e.woken = time.Time{}, now.Before(e.Until)
	}
}
