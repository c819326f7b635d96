package failing

import (
	container "container/heap"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/types"
	testclock "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/osb/controller/resync"
	"github.com/defaultplan/defaultplan/osb/lifecycle"
)

var (
	noon  = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	small = Key{Broker: types.NamespacedName{Name: "b"}, Class: "db", Plan: "small"}
)

// An added notes what is enqueued, and after what time.
type added map[string]time.Duration

func (a added) AddAfter(request reconcile.Request, after time.Duration) { a[request.Name] = after }

func object(namespace, name string) Object {
	return Object{ObjectKey: client.ObjectKey{Namespace: namespace, Name: name}}
}

// fails notes an object whose next attempt is in an hour.
func (s *Set) fails(o Object, key Key, now time.Time) {
	s.Note(o, Wait{Key: key, Generation: 1}, now)
}

// woken says whether an object makes an attempt before its time.
func (s *Set) isWoken(o Object, now time.Time) bool {
	at := s.Wakes(o, 1, now)
	return !at.IsZero() && !at.After(now)
}

// waited is a call that had to wait for another hour.
func waited(now time.Time) Call {
	return Call{Wait: Wait{Generation: 1}, NextRetry: now.Add(time.Hour)}
}

// attempts has an object make an attempt that fails.
func (s *Set) attempts(o Object, key Key, now time.Time) {
	s.Begins(o, waited(now), now)
	s.Begins(o, Call{Wait: Wait{Generation: 1}, Mitigation: true}, now) // the mitigation is a part of it
	s.fails(o, key, now)
}

// A success wakes those that fail alike, with jitter, and no others.
func TestSuccessWakes(t *testing.T) {
	t.Parallel()
	s, q := &Set{}, added{}
	s.requests = q
	other := map[string]Key{
		"broker":   {Broker: types.NamespacedName{Namespace: "n", Name: "b"}, Class: "db", Plan: "small"},
		"class":    {Broker: small.Broker, Class: "queue", Plan: "small"},
		"plan":     {Broker: small.Broker, Class: "db", Plan: "large"},
		"deleting": {Broker: small.Broker, Class: "db", Plan: "small", Deleting: true},
	}
	for name, key := range other {
		s.fails(object("n", name), key, noon)
	}
	s.Success(small, noon)
	assert.Empty(t, q, "none fails")
	for _, name := range []string{"one", "two"} {
		s.fails(object("n", name), small, noon)
	}
	s.Success(small, noon)
	assert.Len(t, q, 2)
	for _, name := range []string{"one", "two"} {
		require.Contains(t, q, name)
		assert.Less(t, q[name], leastSpread)
		assert.Equal(t, noon.Add(q[name]), s.Wakes(object("n", name), 1, noon), "not before its turn, whatever else brings a pass")
	}
	clear(q)
	s.Success(small, noon)
	assert.Empty(t, q, "they are woken already")
	for name := range other {
		assert.Zero(t, s.Wakes(object("n", name), 1, noon), name)
	}
}

// Many are woken as fast as what rests is looked at; one of another namespace does not wait for them.
func TestManyAreWokenBitByBit(t *testing.T) {
	t.Parallel()
	s, q := &Set{}, added{}
	s.requests = q
	const many = 100 * resync.PerSecond
	for i := range many {
		s.fails(object("many", fmt.Sprint(i)), small, noon)
	}
	s.fails(object("few", "one"), small, noon)
	s.Success(small, noon)
	require.Len(t, q, many+1)
	assert.Less(t, q["one"], leastSpread)
	perSecond := map[time.Duration]int{}
	for _, after := range q {
		assert.Less(t, after, 101*time.Second)
		perSecond[after/time.Second]++
	}
	assert.Greater(t, len(perSecond), 90)
	for _, n := range perSecond {
		assert.Less(t, n, 4*resync.PerSecond)
	}
}

// A stream of successes brings no attempt within five minutes of the last one.
func TestSuccessesWakeOnce(t *testing.T) {
	t.Parallel()
	s, o := &Set{}, object("n", "o")
	s.fails(o, small, noon)
	attempts := 0
	for now := noon; now.Before(noon.Add(10 * time.Hour)); now = now.Add(10 * time.Second) {
		s.Success(small, now)
		if s.isWoken(o, now) {
			attempts++
			s.attempts(o, small, now)
		}
	}
	assert.LessOrEqual(t, attempts, int(10*time.Hour/successPause)+1)
	assert.Greater(t, attempts, 100, "successes do wake it")

	// Many share their attempts with those that successes bring.
	s = &Set{}
	for i := range 1000 {
		s.fails(object("n", fmt.Sprint(i)), small, noon)
	}
	s.fails(o, small, noon)
	s.Success(small, noon)
	s.attempts(o, small, noon.Add(time.Minute))
	again := noon.Add(time.Minute + 1001*lifecycle.PausePerObject)
	s.Success(small, again.Add(-2*time.Minute))
	assert.Equal(t, again, s.Wakes(o, 1, noon), "the success is not lost")

	// The attempt under way counts, too: its mitigation is a part of it.
	s = &Set{}
	s.fails(o, small, noon)
	s.Success(small, noon)
	s.Begins(o, waited(noon.Add(time.Second)), noon.Add(time.Second))
	s.Success(small, noon.Add(2*time.Second))
	s.Begins(o, Call{Wait: Wait{Generation: 1}, Mitigation: true}, noon.Add(2*time.Second))
	s.fails(o, small, noon.Add(3*time.Second))
	assert.Equal(t, noon.Add(3*time.Second+successPause), s.Wakes(o, 1, noon))

	// So does a mitigation that waits until no request can arrive any more.
	s.Begins(o, Call{Wait: Wait{Generation: 1}, NextRetry: noon.Add(time.Minute), Mitigation: true}, noon.Add(time.Minute))
	assert.Equal(t, noon.Add(3*time.Second+successPause), s.Wakes(o, 1, noon))

	// However many share their attempts, the pause is an hour at most.
	for i := range 9000 {
		s.fails(object("n", fmt.Sprint("more", i)), small, noon)
	}
	s.attempts(o, small, noon.Add(time.Hour))
	s.Success(small, noon.Add(time.Hour))
	assert.Equal(t, noon.Add(2*time.Hour), s.Wakes(o, 1, noon))
}

// A stream of successes brings one attempt, also where the object does not come to wait after it, and
// a change brings the next one.
func TestSuccessesWakeOnceWithoutAWait(t *testing.T) {
	t.Parallel()
	s, o := &Set{}, object("n", "o")
	s.fails(o, small, noon)
	begin, attempts := noon.Add(2*time.Hour), 0
	for now := begin; now.Before(begin.Add(successPause)); now = now.Add(5 * time.Second) {
		s.Success(small, now)
		if now.Equal(begin.Add(time.Minute)) {
			s.Changed(o.ObjectKey, 0, now)
		}
		if s.isWoken(o, now) {
			attempts++
			s.Begins(o, waited(now), now)
		}
	}
	assert.Equal(t, 2, attempts, "a success's and the change's")

	own := noon.Add(4 * time.Hour)
	s.Success(small, own.Add(-time.Minute))
	s.Begins(o, Call{Wait: Wait{Generation: 1}, NextRetry: own}, own)
	s.Success(small, own)
	assert.True(t, s.isWoken(o, own.Add(leastSpread)), "that attempt was due, although it was woken")
}

// A success after an object's own attempt, and before that one's mitigation, is not lost.
func TestSuccessWithinAnAttempt(t *testing.T) {
	t.Parallel()
	s, o := &Set{}, object("n", "o")
	s.fails(o, small, noon)
	own := noon.Add(time.Hour)
	s.Begins(o, waited(own), own)
	s.Success(small, own)
	s.Begins(o, Call{Wait: Wait{Generation: 1}, Mitigation: true}, own)
	s.fails(o, small, own.Add(time.Second))
	assert.True(t, s.isWoken(o, own.Add(leastSpread)))
}

// What wakes an object while its call takes is for its next attempt, whatever brought the call.
func TestWakeWithinACall(t *testing.T) {
	t.Parallel()
	for name, wakes := range map[string]func(*Set, Object, time.Time){
		"Success": func(s *Set, _ Object, now time.Time) { s.Success(small, now) },
		"Change":  func(s *Set, o Object, now time.Time) { s.Changed(o.ObjectKey, 0, now) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, o := &Set{}, object("n", "o")
			s.fails(o, small, noon)
			own := noon.Add(time.Hour)
			s.Begins(o, waited(own), own)
			wakes(s, o, own.Add(time.Second))
			s.fails(o, small, own.Add(time.Minute))
			assert.True(t, s.isWoken(o, own.Add(time.Minute)))
		})
	}
	s, o := &Set{}, object("n", "o")
	s.fails(o, small, noon)
	s.Success(small, noon)
	s.Begins(o, waited(noon.Add(time.Second)), noon.Add(time.Second))
	s.Changed(o.ObjectKey, 0, noon.Add(2*time.Second))
	s.fails(o, small, noon.Add(time.Minute))
	assert.True(t, s.isWoken(o, noon.Add(time.Minute)), "a change within an attempt that a success brought")
}

// A success wakes what failed again after a change, and what made an attempt in its own time.
func TestSuccessAfterOtherAttempts(t *testing.T) {
	t.Parallel()
	s, o := &Set{}, object("n", "o")
	s.fails(o, small, noon)
	s.Changed(o.ObjectKey, 0, noon)
	s.attempts(o, small, noon.Add(time.Second))
	s.Success(small, noon.Add(2*time.Second))
	assert.True(t, s.isWoken(o, noon.Add(3*time.Second)), "the change did not help, and something else did")

	s.Begins(o, waited(noon.Add(3*time.Second)), noon.Add(3*time.Second)) // its broker is not reached: it soon tries again
	s.attempts(o, small, noon.Add(time.Hour).Add(3*time.Second))
	s.Success(small, noon.Add(time.Hour).Add(4*time.Second))
	assert.True(t, s.isWoken(o, noon.Add(time.Hour).Add(5*time.Second)), "its last attempt was in its own time")

	edited := noon.Add(2 * time.Hour)
	s.attempts(o, small, edited) // which a success brought
	s.attempts(o, small, edited.Add(time.Minute))
	s.Success(small, edited.Add(2*time.Minute))
	assert.True(t, s.isWoken(o, edited.Add(2*time.Minute+leastSpread)), "its own time brought the last attempt")

	edit := Call{Wait: Wait{Generation: 2}, NextRetry: edited.Add(time.Hour)}
	s.Begins(o, edit, edited.Add(2*time.Minute))
	s.fails(o, small, edited.Add(3*time.Minute))
	s.Success(small, edited.Add(3*time.Minute))
	assert.NotZero(t, s.Wakes(o, 2, edited), "an edit brought the last attempt, although a success had woken it")
}

// Changes wake every time, but no faster than every ten seconds.
func TestChangesWake(t *testing.T) {
	t.Parallel()
	s, q, o := &Set{}, added{}, object("n", "o")
	s.requests = q
	s.Changed(o.ObjectKey, time.Second, noon)
	assert.Empty(t, q, "it does not fail")
	s.fails(o, small, noon)
	attempts := 0
	const minutes = 10
	for now := noon; now.Before(noon.Add(minutes * time.Minute)); now = now.Add(time.Second) {
		s.Changed(o.ObjectKey, time.Second, now)
		if s.isWoken(o, now) {
			attempts++
			s.attempts(o, small, now)
		}
	}
	assert.InDelta(t, minutes*6, attempts, 2)
}

// The last of several changes that follow each other fast is not lost: it wakes later.
func TestNoChangeIsLost(t *testing.T) {
	t.Parallel()
	s, q, o := &Set{}, added{}, object("n", "o")
	s.requests = q
	now := noon
	s.fails(o, small, now)
	s.Changed(o.ObjectKey, time.Second, now)
	s.attempts(o, small, now.Add(time.Second))
	clear(q)
	s.Changed(o.ObjectKey, time.Second, now.Add(2*time.Second))
	assert.Equal(t, map[string]time.Duration{"o": 9 * time.Second}, map[string]time.Duration(q), "ten seconds after the last time")
	assert.True(t, s.isWoken(o, now.Add(11*time.Second)))
	s.Success(small, now.Add(3*time.Second))
	assert.True(t, s.isWoken(o, now.Add(4*time.Second)), "a success does not wait for a change that was put off")

	for i := range 99 {
		s.fails(object("n", fmt.Sprint(i)), small, now)
	}
	now = now.Add(time.Hour)
	s.attempts(o, small, now)
	s.Changed(o.ObjectKey, time.Second, now)
	s.attempts(o, small, now.Add(time.Second))
	s.Changed(o.ObjectKey, time.Second, now)
	assert.Equal(t, now.Add(time.Second+100*lifecycle.PausePerObject), s.Wakes(o, 1, now))
}

// A broker that is made or whose spec changed wakes all that fails at it.
func TestBrokerWakes(t *testing.T) {
	t.Parallel()
	broker := &v1beta1.ClusterServiceBroker{}
	broker.Name = "b"
	wakes := func(handle func(handler.EventHandler)) added {
		s, q := &Set{}, added{}
		s.fails(object("n", "blocked"), small, noon)
		s.Block(object("n", "blocked"), Wait{}, noon.Add(-time.Minute)) // by the broker that was gone
		deleting := small
		deleting.Deleting = true
		s.fails(object("n", "a"), small, noon)
		s.fails(object("n", "b"), deleting, noon)
		s.fails(object("n", "c"), Key{Broker: types.NamespacedName{Namespace: "n", Name: "b"}}, noon)
		s.requests = q
		handle(s.ByBroker(testclock.NewFakePassiveClock(noon)))
		assert.NotContains(t, q, "c", "the namespaced broker of that name is another")
		return q
	}
	assert.Empty(t, wakes(func(h handler.EventHandler) {
		h.Create(t.Context(), event.CreateEvent{Object: broker, IsInInitialList: true}, nil)
	}), "it is only read for the first time")
	assert.Len(t, wakes(func(h handler.EventHandler) { h.Create(t.Context(), event.CreateEvent{Object: broker}, nil) }), 3)
	assert.Len(t, wakes(func(h handler.EventHandler) {
		h.Update(t.Context(), event.UpdateEvent{ObjectOld: broker, ObjectNew: broker}, nil)
	}), 3)
}

// What a broker's change wakes is spread over all of it, also where each object has a plan of its own,
// and one of many is not woken again soon.
func TestBrokerWakesBitByBit(t *testing.T) {
	t.Parallel()
	s, q := &Set{}, added{}
	s.requests = q
	const many = 100 * resync.PerSecond
	key := small
	for i := range many {
		key.Plan = fmt.Sprint(i)
		s.fails(object("n", key.Plan), key, noon)
	}
	s.Broker(small.Broker, noon)
	require.Len(t, q, many)
	perSecond := map[time.Duration]int{}
	for _, after := range q {
		perSecond[after/time.Second]++
	}
	for _, n := range perSecond {
		assert.Less(t, n, 4*resync.PerSecond)
	}
	now := noon.Add(2 * time.Minute)
	for i := range many {
		key.Plan = fmt.Sprint(i)
		s.attempts(object("n", key.Plan), key, now)
	}
	s.Broker(small.Broker, now)
	for i := range many {
		assert.True(t, s.Wakes(object("n", fmt.Sprint(i)), 1, now).After(noon.Add(many*lifecycle.PausePerObject-time.Minute)))
	}
}

// An edit ends the wait, until the attempt that it brings.
func TestEditWakes(t *testing.T) {
	t.Parallel()
	s, o := &Set{}, object("n", "o")
	s.fails(o, small, noon)
	assert.Zero(t, s.Wakes(o, 1, noon))
	assert.Equal(t, noon, s.Wakes(o, 2, noon))
	assert.True(t, s.Begins(o, Call{Wait: Wait{Generation: 2}}, noon))
	assert.Zero(t, s.Wakes(o, 2, noon))
	edited := Call{Wait: Wait{Generation: 3}, NextRetry: noon.Add(time.Hour), Mitigation: true}
	assert.True(t, s.Begins(o, edited, noon), "it is for what follows the mitigation, too")
	assert.False(t, s.Begins(o, edited, noon))
}

// A wait that goes on without an attempt keeps an edit or touch, and a wake.
func TestWaitThatGoesOn(t *testing.T) {
	t.Parallel()
	s, o := &Set{}, object("n", "o")
	s.fails(o, small, noon)
	large := small
	large.Plan = "large"
	for _, key := range []Key{small, large} {
		s.Note(o, Wait{Key: key, Generation: 2}, noon)
		assert.Equal(t, noon, s.Wakes(o, 2, noon), "no attempt was made since the edit")
	}
	s.Begins(o, Call{Wait: Wait{Generation: 2}}, noon)
	assert.Zero(t, s.Wakes(o, 2, noon))

	s.Broker(large.Broker, noon)
	woken := s.Wakes(o, 2, noon)
	require.NotZero(t, woken)
	s.Note(o, Wait{Key: small, Generation: 2}, noon)
	assert.Equal(t, woken, s.Wakes(o, 2, noon), "the wake is for the next attempt, whatever it asks for")
}

// A wake is carried to one further call. The next wake is, too.
func TestCarry(t *testing.T) {
	t.Parallel()
	s, o := &Set{}, object("n", "o")
	s.Carry(o, noon) // it does not fail
	s.fails(o, small, noon)
	mitigates := Call{Wait: Wait{Generation: 1}, NextRetry: noon.Add(24 * time.Hour), Mitigation: true}
	carries := func(now time.Time) bool {
		s.Begins(o, mitigates, now)
		s.Carry(o, now)
		return !s.Wakes(o, mitigates.Generation, now).IsZero()
	}
	s.Changed(o.ObjectKey, 0, noon)
	assert.True(t, carries(noon))
	assert.False(t, carries(noon))
	s.Changed(o.ObjectKey, 0, noon.Add(time.Hour))
	assert.True(t, carries(noon.Add(time.Hour)), "another change")
	assert.False(t, carries(noon.Add(time.Hour)))
	mitigates.Generation = 2
	assert.True(t, carries(noon.Add(time.Hour)), "an edit")
	assert.False(t, carries(noon.Add(time.Hour)))
	s.Block(o, Wait{}, noon.Add(2*time.Hour))
	assert.True(t, carries(noon.Add(3*time.Hour)), "what it waited for is there")
	assert.False(t, carries(noon.Add(3*time.Hour)))
}

// A change between two mitigations is a wake of its own, and one that is put off does not delay what
// follows the mitigation.
func TestCarryAfterAnotherWake(t *testing.T) {
	t.Parallel()
	s, o := &Set{}, object("n", "o")
	s.fails(o, small, noon)
	mitigates := waited(noon)
	mitigates.Mitigation = true
	s.Changed(o.ObjectKey, 0, noon)
	s.Begins(o, mitigates, noon)
	s.Carry(o, noon)
	later := noon.Add(time.Minute)
	s.Changed(o.ObjectKey, 0, later) // its broker is not reached until then: the first wake is still there
	s.Begins(o, mitigates, later)
	s.Carry(o, later)
	assert.Equal(t, later, s.Wakes(o, 1, later))

	later = noon.Add(time.Hour)
	s.Begins(o, mitigates, later)
	s.Changed(o.ObjectKey, 0, later)
	s.Begins(o, mitigates, later)
	s.Changed(o.ObjectKey, 0, later.Add(time.Second))
	require.Equal(t, later.Add(changePause), s.Wakes(o, 1, later))
	s.Carry(o, later.Add(time.Second))
	assert.Equal(t, later.Add(time.Second), s.Wakes(o, 1, later))
}

// A change that was put off is not lost where a mitigation is due before: it is for what follows that.
func TestMitigationBeforeItsWake(t *testing.T) {
	t.Parallel()
	s, o := &Set{}, object("n", "o")
	s.fails(o, small, noon)
	mitigates := Call{Wait: Wait{Generation: 1}, NextRetry: noon, Mitigation: true}
	assert.False(t, s.Begins(o, mitigates, noon))
	s.Changed(o.ObjectKey, time.Second, noon)
	assert.True(t, s.Begins(o, mitigates, noon))
	s.Carry(o, noon)
	assert.Equal(t, noon, s.Wakes(o, 1, noon))
}

// What wakes an object while the call takes that follows its first failure is for its next attempt,
// although its waits were too short to be noted. A first call is not noted.
func TestWakeWithinAnEarlyCall(t *testing.T) {
	t.Parallel()
	s, o := &Set{}, object("n", "o")
	call := Call{Wait: Wait{Key: small, Generation: 1}}
	s.Begins(o, call, noon)
	assert.Empty(t, s.known)
	call.Failed, call.NextRetry = true, noon
	s.Begins(o, call, noon)
	s.Broker(small.Broker, noon.Add(time.Second))
	s.fails(o, small, noon.Add(2*time.Second))
	assert.True(t, s.isWoken(o, noon.Add(2*time.Second+leastSpread)))
}

// A wake that a mitigation did not use is for the next one, in its time.
func TestPostpone(t *testing.T) {
	t.Parallel()
	s, o := &Set{}, object("n", "o")
	s.Postpone(o, noon) // it does not fail
	s.fails(o, small, noon)
	s.Postpone(o, noon.Add(time.Minute))
	assert.Equal(t, noon.Add(time.Minute), s.Wakes(o, 1, noon))
	s.Postpone(o, noon.Add(time.Hour))
	assert.Equal(t, noon.Add(time.Minute), s.Wakes(o, 1, noon), "it is woken earlier")
	s.Postpone(o, noon)
	assert.Equal(t, noon, s.Wakes(o, 1, noon))
}

// What is blocked when its controller starts does not wait for its time, either, and a change looks at
// it when it may make an attempt.
func TestBlock(t *testing.T) {
	t.Parallel()
	s, q, o := &Set{}, added{}, object("n", "o")
	s.requests = q
	wait := Wait{Key: small, Generation: 1}
	s.Block(o, wait, noon)
	assert.True(t, s.isWoken(o, noon))
	assert.EqualValues(t, 1, s.Share(o, small, fewFailures))

	s.Begins(o, waited(noon), noon)
	s.Success(small, noon)
	s.attempts(o, small, noon)
	s.Success(small, noon.Add(time.Second)) // which is for five minutes later
	clear(q)
	s.Block(o, wait, noon.Add(time.Second))
	assert.Empty(t, q)
	s.Broker(small.Broker, noon.Add(2*time.Second)) // which it waited for
	assert.Equal(t, map[string]time.Duration{"o": 8 * time.Second}, map[string]time.Duration(q))
	assert.True(t, s.isWoken(o, noon.Add(10*time.Second)))
}

// What was put off for an attempt does not put off the next one.
func TestChangeThatWasPutOff(t *testing.T) {
	t.Parallel()
	s, o := &Set{}, object("n", "o")
	s.fails(o, small, noon)
	s.Changed(o.ObjectKey, 0, noon)
	s.attempts(o, small, noon.Add(time.Second))
	s.Changed(o.ObjectKey, 0, noon.Add(2*time.Second)) // which is for ten seconds after the first
	s.Success(small, noon.Add(2*time.Second))
	s.attempts(o, small, noon.Add(4*time.Second))
	s.Changed(o.ObjectKey, 0, noon.Add(13*time.Second))
	assert.False(t, s.isWoken(o, noon.Add(13*time.Second)))
	assert.True(t, s.isWoken(o, noon.Add(14*time.Second)))
}

// What fails alike shares its attempts by namespace.
func TestShare(t *testing.T) {
	t.Parallel()
	s := &Set{}
	one := object("few", "one")
	for i := range 5000 {
		s.fails(object("many", fmt.Sprint(i)), small, noon)
	}
	assert.EqualValues(t, 5000, s.Share(object("many", "0"), small, fewFailures))
	assert.Zero(t, s.Share(one, small, fewFailures), "it has not failed for long")
	s.fails(one, small, noon)
	assert.EqualValues(t, 2, s.Share(one, small, fewFailures), "half of the attempts are of its namespace")
	assert.EqualValues(t, 5001, s.Share(object("many", "0"), small, fewFailures))
	assert.Zero(t, s.Share(one, Key{}, fewFailures))
	assert.EqualValues(t, 1, s.Share(one, small, fewFailures-1), "until it failed often, others only delay their own namespace")

	own := Key{Broker: types.NamespacedName{Namespace: "many", Name: "own"}, Class: "db"}
	for i := range 100 {
		own.Plan = fmt.Sprint(i)
		s.fails(object("many", "at own "+own.Plan), own, noon)
	}
	assert.EqualValues(t, 100, s.Share(object("many", "at own 0"), own, 1), "who made the broker made its plans")
}

// Nothing is kept of what does not fail any more, is gone, or fails at something else.
func TestForget(t *testing.T) {
	t.Parallel()
	s, o := &Set{}, object("n", "o")
	rotating := Object{ObjectKey: o.ObjectKey, Rotating: true}
	s.fails(o, small, noon)
	s.fails(rotating, small, noon)
	large := Key{Broker: small.Broker, Class: "db", Plan: "large"}
	s.fails(o, large, noon)
	assert.EqualValues(t, 1, s.Share(o, small, fewFailures))
	assert.EqualValues(t, 1, s.Share(o, large, fewFailures))
	s.Forget(o)
	s.Forget(o)
	assert.Zero(t, s.Share(o, large, fewFailures))
	s.Gone(o.ObjectKey)
	assert.Empty(t, s.known)
	assert.Empty(t, s.groups)
	s.Begins(o, waited(noon), noon)
	assert.Empty(t, s.known)
}

// 5,000 objects that fail for ever make at most 2.5 attempts a second once ten minutes have passed, whether they began
// together or one after the other.
func TestManyThatFailForEver(t *testing.T) {
	t.Parallel()
	for name, perSecond := range map[string]int{"Together": 5000, "OneAfterTheOther": 50} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const objects, settled, ends = 5000, 10 * time.Minute, 2 * time.Hour
			s, random := &Set{}, rand.New(rand.NewPCG(1, 2))
			attempts := &heap{}
			for i := range objects {
				attempts.add(attempt{at: noon.Add(time.Duration(i/perSecond) * time.Second), of: object("n", fmt.Sprint(i))})
			}
			made := map[int]int{}
			for {
				next := attempts.take()
				if next.at.After(noon.Add(ends)) {
					break
				}
				next.failures++
				if since := next.at.Sub(noon); since > settled {
					made[int((since-settled)/time.Minute)]++
				}
				s.Begins(next.of, waited(next.at), next.at)
				f := lifecycle.Facts{AlsoFailing: s.Share(next.of, small, next.failures), Jitter: random.Float64()}
				wait := f.Backoff(next.failures, 0)
				if wait > 10*time.Second {
					s.Note(next.of, Wait{Key: small, Generation: 1}, next.at)
				}
				next.at = next.at.Add(wait)
				attempts.add(next)
			}
			sum := 0
			for minute, n := range made {
				assert.LessOrEqual(t, n, 60*3, "in minute %d", minute)
				sum += n
			}
			assert.Less(t, float64(sum)/(ends-settled).Seconds(), 2.5)
		})
	}
}

// An attempt of an object is due at a time.
type attempt struct {
	at       time.Time
	of       Object
	failures int32
}

// A heap has the attempts that are due, in their order.
type heap struct{ all []attempt }

func (h *heap) Len() int           { return len(h.all) }
func (h *heap) Less(i, j int) bool { return h.all[i].at.Before(h.all[j].at) }
func (h *heap) Swap(i, j int)      { h.all[i], h.all[j] = h.all[j], h.all[i] }
func (h *heap) Push(a any)         { h.all = append(h.all, a.(attempt)) }
func (h *heap) add(a attempt)      { container.Push(h, a) }

func (h *heap) Pop() any {
	last := h.all[len(h.all)-1]
	h.all = h.all[:len(h.all)-1]
	return last
}

func (h *heap) take() attempt { return container.Pop(h).(attempt) }
