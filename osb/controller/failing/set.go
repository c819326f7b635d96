package failing

import (
	"math"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/defaultplan/defaultplan/osb/lifecycle"
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
}

const (
	// fewFailures is after how many failures an object shares the attempts of a ClusterServiceBroker's
	// plan with the objects of all namespaces: until then others of its own namespace only delay it.
	fewFailures = 5
	// successPause is the least time between two attempts that successes bring.
	successPause = 5 * time.Minute
)

// A Set has the objects of one kind that fail at present. The zero Set is empty, and ready for use.
type Set struct {
	mutex  sync.Mutex
	known  map[Object]*entry
	groups map[Key]*group
	// at counts the objects of a namespace at a broker, whatever their plans.
	at map[namespaceAtBroker]int
	// requests is the queue of the controller; nil before it starts.
	requests requests
}

// requests is what a Set needs of a controller's queue.
type requests interface {
	AddAfter(request reconcile.Request, after time.Duration)
}

// A namespaceAtBroker is the objects of one namespace at one broker.
type namespaceAtBroker struct {
	broker    types.NamespacedName
	namespace string
}

// An entry is an object that fails.
type entry struct {
	Wait

	// wake is from when on the next attempt does not wait for its time; zero: it waits. bySuccess
	// says that a success of another object is why.
	wake      time.Time
	bySuccess bool
	// carried says that the wake is, or was, for a second call: it is for no third one.
	carried bool
	// woken says that the attempt under way, or the last one, did not wait for its time because of a
	// success.
	woken bool
	// successFrom is from when on a success wakes the object again, unless it makes an attempt of its
	// own before.
	successFrom time.Time
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
	return min(g.in[namespace]*len(g.in), len(g.members))
}

// Note records that an object waits, from now on, after an attempt that failed.
func (s *Set) Note(o Object, w Wait, now time.Time) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	e := s.known[o]
	if e != nil { // an edit since its last attempt still wakes it
		w.Generation = e.Generation
	}
	switch {
	case e == nil:
		e = s.add(o, w.Key)
	case e.Key != w.Key:
		s.forget(o)
		was := *e
		e = s.add(o, w.Key)
		*e = was
	}
	e.Wait = w
	if e.woken { // the pause is one after the attempt
		e.woken, e.successFrom = false, s.nextSuccess(o, e, now)
		if e.bySuccess && !e.wake.IsZero() {
			e.wake = later(e.wake, e.successFrom)
		}
	}
}

// nextSuccess is from when on a success wakes an object again that one woke.
func (s *Set) nextSuccess(o Object, e *entry, now time.Time) time.Time {
	share := time.Duration(s.share(o, e.Key, fewFailures)) * lifecycle.PausePerObject
	return now.Add(min(max(successPause, share), longestPause))
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// Block records that something else than its wait keeps an object from an attempt now, such as a plan
// that is gone: once that is over, the object does not wait for its time.
func (s *Set) Block(o Object, w Wait, now time.Time) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	e := s.known[o]
	if e == nil { // it was blocked before the controller started
		e = s.add(o, w.Key)
		e.Wait = w
	}
	if at := s.notBefore(o, e, now); e.wake.IsZero() || at.Before(e.wake) {
		e.wake, e.bySuccess, e.carried = at, false, false
		e.changed = at
	}
}

// Carry has what woke the last call of an object, a mitigation, be for the next one, too: once, since
// that may be a mitigation again.
func (s *Set) Carry(o Object, now time.Time) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if e := s.known[o]; e != nil && (e.wake.IsZero() || e.wake.After(now)) && !e.carried {
		e.wake, e.carried = now, true
	}
}

// Postpone has what woke the last call of an object be for a later one: that call did not reach the
// broker, or what came of it was not stored.
func (s *Set) Postpone(o Object, until time.Time) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if e := s.known[o]; e != nil && (e.wake.IsZero() || until.Before(e.wake)) {
		e.wake = until
	}
}

func (s *Set) add(o Object, key Key) *entry {
	if s.known == nil {
		s.known, s.groups, s.at = map[Object]*entry{}, map[Key]*group{}, map[namespaceAtBroker]int{}
	}
	g := s.groups[key]
	if g == nil {
		g = &group{members: map[Object]*entry{}, in: map[string]int{}}
		s.groups[key] = g
	}
	e := &entry{}
	s.known[o], g.members[o] = e, e
	g.in[o.Namespace]++
	s.at[namespaceAtBroker{key.Broker, o.Namespace}]++
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
	at := namespaceAtBroker{e.Key.Broker, o.Namespace}
	if s.at[at]--; s.at[at] == 0 {
		delete(s.at, at)
	}
}

// Share is with how many objects, itself included, an object that failed so often shares the attempts;
// 0: none of them has failed for long. At a ServiceBroker it is with all of its namespace, whatever
// their plans: who made the broker could make a plan for each.
func (s *Set) Share(o Object, key Key, failures int32) int32 {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	share := min(max(s.share(o, key, failures), 0), math.MaxInt32)
	return int32(share)
}

func (s *Set) share(o Object, key Key, failures int32) int {
	switch g := s.groups[key]; {
	case key.Broker.Namespace != "":
		return s.at[namespaceAtBroker{key.Broker, o.Namespace}]
	case g == nil:
		return 0
	case failures < fewFailures:
		return g.in[o.Namespace]
	default:
		return g.share(o.Namespace)
	}
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

// A Call is a call for an object that is about to be made.
type Call struct {
	Wait

	// Failed says that the one before it failed.
	Failed bool
	// NextRetry is the time that the call had to wait for; zero: it had none.
	NextRetry time.Time
	// Mitigation says that it removes what an earlier attempt may have left.
	Mitigation bool
}

// Begins records a call for an object: what wakes the object from now on is for the next attempt. An
// attempt begins with a call that had to wait. What follows it at once is a part of it, and so is a
// mitigation that nothing wakes. It returns whether something woke the object, or was about to.
func (s *Set) Begins(o Object, c Call, now time.Time) (woken bool) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	e := s.known[o]
	switch {
	case e == nil && !c.Failed:
		return false
	case e == nil: // its waits were short so far
		e = s.add(o, c.Key)
		e.Wait = c.Wait
	}
	edited := e.Generation != c.Generation
	if edited { // an edit or a touch is a wake of its own
		e.Generation, e.bySuccess, e.carried = c.Generation, false, false
	}
	waits := e.bySuccess && e.wake.After(now) // until the pause after the last attempt is over
	woken = edited || !e.wake.IsZero()
	if c.NextRetry.IsZero() || c.Mitigation && (!woken || waits) {
		return edited
	}
	early := !e.wake.IsZero() && now.Before(c.NextRetry)
	switch e.woken = early && e.bySuccess; {
	case e.woken: // it may not come to wait before its next attempt
		e.successFrom = s.nextSuccess(o, e, now)
	case !early:
		e.successFrom = time.Time{}
	}
	e.wake = time.Time{}
	if e.changed.After(now) { // what was put off is for this attempt
		e.changed = now
	}
	return woken
}
