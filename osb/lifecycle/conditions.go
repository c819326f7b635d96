package lifecycle

import (
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/defaultplan/defaultplan/api/v1beta1"
)

// set sets a condition, observed at the generation that was last acted on.
func (r *Record) set(c v1beta1.Condition, now time.Time) {
	r.Conditions = v1beta1.SetCondition(r.Conditions, c, r.ObservedGeneration, metav1.Time{Time: now.Truncate(time.Second)})
}

func (r *Record) unset(types ...string) {
	for _, typ := range types {
		r.Conditions = v1beta1.RemoveCondition(r.Conditions, typ)
	}
}

// busy says that something is being done about it.
func (r *Record) busy(reason, message string, now time.Time) {
	r.unset(v1beta1.ConditionStalled)
	r.set(v1beta1.Reconciling(reason, message), now)
}

// stall says that nothing is done until someone acts.
func (r *Record) stall(reason, message string, now time.Time) {
	r.unset(v1beta1.ConditionReconciling)
	r.set(v1beta1.Stalled(reason, message), now)
}

// succeed says that it can be used.
func (r *Record) succeed(reason, message string, now time.Time) {
	r.unset(v1beta1.ConditionFailed, v1beta1.ConditionOrphanMitigation, v1beta1.ConditionReconciling, v1beta1.ConditionStalled)
	r.set(v1beta1.Ready(reason, message), now)
}

// fail says that nothing more is tried until the spec changes.
func (r *Record) fail(reason, message string, now time.Time) {
	r.set(v1beta1.NotReady(reason, message), now)
	r.set(v1beta1.Failed(reason, message), now)
	r.stall(reason, message, now)
}

// miss says that a try failed and that another follows.
func (r *Record) miss(reason, message string, now time.Time) {
	r.set(v1beta1.NotReady(reason, message), now)
	if !r.failedForGood() {
		r.busy(reason, message, now)
	}
}

// underWay says that a call is about to be made. What the last try of the same spec
// said of itself stays until this one has something better to say: a thing that is
// tried again and again does not flap.
func (r *Record) underWay(w wording, step Step, now time.Time) {
	if step == Mitigate {
		r.set(v1beta1.OrphanMitigation(w.inFlight, w.workMessage), now)
		if !r.failedForGood() {
			r.busy(w.inFlight, w.workMessage, now)
		}
		return
	}
	r.unset(v1beta1.ConditionFailed)
	if ready, retried := r.retried(); retried {
		r.busy(ready.Reason, ready.Message, now)
		return
	}
	r.set(v1beta1.Waiting(w.inFlight, w.workMessage), now)
	r.busy(w.inFlight, w.workMessage, now)
}

// retried is what the last try said, and whether this is another one of the same spec.
func (r *Record) retried() (v1beta1.Condition, bool) {
	ready, _ := v1beta1.FindCondition(r.Conditions, v1beta1.ConditionReady)
	return ready, ready.Status == v1beta1.ConditionFalse && ready.ObservedGeneration == r.ObservedGeneration && r.Retries > 0
}

// working says that the broker works on it, in its own words if it has any.
func (r *Record) working(w wording, description string, now time.Time) {
	message := w.workMessage
	if description != "" {
		message += ": " + description
	}
	if r.failedForGood() {
		return
	}
	if _, retried := r.retried(); !retried {
		r.set(v1beta1.Waiting(w.working, message), now)
	}
	r.busy(w.working, message, now)
}

// resolve says by which rule the plan was decided on.
func (r *Record) resolve(f *Facts) {
	if f.Ask.Rule == "" {
		r.unset(v1beta1.ConditionResolved)
		return
	}
	r.set(v1beta1.Resolved(camel(f.Ask.Rule), "the plan was decided on at admission by the rule "+f.Ask.Rule), f.Now)
}

// camel makes a reason of a rule's words: "class-default" is ClassDefault.
func camel(rule string) string {
	var b strings.Builder
	for _, word := range strings.FieldsFunc(rule, func(c rune) bool { return c == '-' || c == ' ' || c == '_' }) {
		b.WriteString(strings.ToUpper(word[:1]) + word[1:])
	}
	return b.String()
}

func (r *Record) failedForGood() bool { return r.holds(v1beta1.ConditionFailed) }

func (r *Record) holds(typ string) bool {
	c, _ := v1beta1.FindCondition(r.Conditions, typ)
	return c.Status == v1beta1.ConditionTrue
}

// stalled says that the spec was tried for good, and did not change since.
func (t *Thing) stalled(f *Facts) bool {
	if f.Ask != nil && t.Record.Refused != "" && t.Record.Refused != mark(&f.Ask.Sent, f.Ask) {
		return false // a Secret or the catalog was mended
	}
	return t.Record.failedForGood() && t.Generation == t.Record.ObservedGeneration
}
