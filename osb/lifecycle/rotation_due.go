package lifecycle

import (
	"hash/fnv"
	"time"

	"github.com/defaultplan/defaultplan/api/v1beta1"
)

// Rotating is what an operator says of the replacement of credentials.
type Rotating struct {
	// Overlap is how long the former credentials stay valid, where the binding does not
	// say otherwise.
	Overlap time.Duration
	// Margin is the longest time before an expiry that credentials are replaced.
	Margin time.Duration
	// Pause is the time before another try where the times that a broker gave are none.
	Pause time.Duration
}

const (
	// leastAge is how old credentials are before a broker's times have them replaced.
	leastAge = 5 * time.Second
	// leastEvery is the shortest time between two replacements that a user may wish for.
	leastEvery = time.Minute
	// expiryShare is the part of a lifetime before its end in which credentials are
	// replaced; renewalShare is that of the time for which a broker grants them before, and
	// everyShare that of the time that a user wishes for.
	expiryShare, renewalShare, everyShare = 3, 10, 10
)

// Due is when the credentials of a binding are to be replaced; zero: never. It is late
// enough not to be due again at once, whatever the broker's times are.
func (r Rotating) Due(b *v1beta1.ServiceBinding) time.Time {
	rotation := b.Spec.Rotation
	if rotation == nil {
		rotation = &v1beta1.Rotation{}
	}
	if rotation.Policy == v1beta1.RotationNever {
		return time.Time{}
	}
	c := credentialsOf(b)
	issued := c.IssuedAt.Time
	if rotation.Requests > c.Requests {
		return issued
	}
	return r.dueByTimes(b)
}

// dueByTimes is when credentials are old enough to be replaced, by the broker's times and
// the user's; zero: never.
func (r Rotating) dueByTimes(b *v1beta1.ServiceBinding) time.Time {
	due := r.dueByBroker(b)
	if b.Spec.Rotation == nil || b.Spec.Rotation.Every == nil || b.Spec.Rotation.Every.Duration <= 0 {
		return due
	}
	every := b.Spec.Rotation.Every.Duration
	every = max(every-spread(b, every/everyShare), leastEvery)
	return earliest(due, credentialsOf(b).IssuedAt.Add(every))
}

// dueByBroker is when a broker's times have credentials replaced; zero: never. A time
// that had passed when they were issued says nothing; where it is all that there is, they
// are replaced after a pause.
func (r Rotating) dueByBroker(b *v1beta1.ServiceBinding) time.Time {
	c := credentialsOf(b)
	issued, renew, expires := c.IssuedAt.Time, timeOf(c.RenewBefore), timeOf(c.ExpiresAt)
	var due time.Time
	switch {
	case renew.After(issued):
		due = renew.Add(-spread(b, min(renew.Sub(issued)/renewalShare, r.Margin)))
	case expires.After(issued):
		due = expires.Add(-spread(b, min(expires.Sub(issued)/expiryShare, r.Margin)))
	case !expires.IsZero():
		return issued.Add(r.Pause)
	default:
		return time.Time{}
	}
	if least := issued.Add(leastAge); due.Before(least) {
		return least
	}
	return due
}

// spread is three quarters of a time or more, by the binding: what was issued together is
// not replaced together.
func spread(b *v1beta1.ServiceBinding, d time.Duration) time.Duration {
	sum := fnv.New32a()
	_, _ = sum.Write([]byte(b.UID))
	const parts = 1 << 10
	return d - d/4*time.Duration(sum.Sum32()%parts)/parts
}

// credentialsOf is what is known of the credentials in force. Those of before there were
// such records are as old as their binding.
func credentialsOf(b *v1beta1.ServiceBinding) v1beta1.CredentialsState {
	var c v1beta1.CredentialsState
	if b.Status.Credentials != nil {
		c = *b.Status.Credentials
	}
	if c.IssuedAt == nil {
		c.IssuedAt = &b.CreationTimestamp
	}
	return c
}

func earliest(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

// needed says that the credentials are to be replaced by now.
func (r Rotating) needed(b *v1beta1.ServiceBinding, now time.Time) bool {
	due := r.Due(b)
	return !due.IsZero() && !now.Before(due)
}

// overlaps is until when credentials that are replaced now stay valid: no longer than
// until they expire.
func (r Rotating) overlaps(b *v1beta1.ServiceBinding, now time.Time) time.Time {
	until := now.Add(r.overlap(b))
	if b.Status.Credentials == nil {
		return until
	}
	if expires := timeOf(b.Status.Credentials.ExpiresAt); expires.After(now) {
		return earliest(until, expires)
	}
	return until
}

func (r Rotating) overlap(b *v1beta1.ServiceBinding) time.Duration {
	if b.Spec.Rotation != nil && b.Spec.Rotation.Overlap != nil {
		return b.Spec.Rotation.Overlap.Duration
	}
	return r.Overlap
}

// RemoveAfter is when a predecessor is removed: when it was to be at the switch, or
// before, where the overlap was shortened since or the credentials in force are too old by
// then: there are never three. A request for others waits.
func (r Rotating) RemoveAfter(b *v1beta1.ServiceBinding) time.Time {
	at := timeOf(b.Status.Rotation.RemoveAfter)
	at = earliest(at, credentialsOf(b).IssuedAt.Add(r.overlap(b)))
	if b.Spec.Rotation != nil && b.Spec.Rotation.Policy == v1beta1.RotationNever {
		return at
	}
	return earliest(at, r.dueByTimes(b))
}

// quiet says that the binding in force is there, and that nothing is being done about it.
func quiet(s *v1beta1.ServiceBindingStatus) bool {
	return s.ExternalProperties != nil && s.CurrentOperation == "" && !s.AsyncOpInProgress && !s.OrphanMitigationInProgress && !s.FetchRequired
}

// Turn says whether there is something to do about the other binding of a binding that
// rests, and if not, how long until there is; 0: no time is known.
func (r Rotating) Turn(b *v1beta1.ServiceBinding, now time.Time) (is bool, wait time.Duration) {
	if !quiet(&b.Status) {
		return false, 0
	}
	at := r.Due(b)
	switch stored := b.Status.Rotation; {
	case stored == nil:
	case stored.Role == v1beta1.RotationSuccessor, stored.CurrentOperation != "" || stored.AsyncOpInProgress:
		return true, 0
	default:
		at = r.RemoveAfter(b)
	}
	if at.IsZero() {
		return false, 0
	}
	return !now.Before(at), max(at.Sub(now), 0)
}
