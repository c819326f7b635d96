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

// busy sets Reconciling: the controller is working on the resource.
func (r *Record) busy(reason, message string, now time.Time) {
	r.unset(v1beta1.ConditionStalled)
	r.set(v1beta1.Reconciling(reason, message), now)
}

// stall sets Stalled: nothing happens until a user acts.
func (r *Record) stall(reason, message string, now time.Time) {
	r.unset(v1beta1.ConditionReconciling)
	r.set(v1beta1.Stalled(reason, message), now)
}

// succeed sets Ready: the resource can be used.
func (r *Record) succeed(reason, message string, now time.Time) {
	r.unset(v1beta1.ConditionFailed, v1beta1.ConditionOrphanMitigation, v1beta1.ConditionReconciling, v1beta1.ConditionStalled)
	r.set(v1beta1.Ready(reason, message), now)
}

// fail sets Failed: the controller makes no further attempt until the spec changes.
func (r *Record) fail(reason, message string, now time.Time) {
	r.set(v1beta1.NotReady(reason, message), now)
	r.set(v1beta1.Failed(reason, message), now)
	r.stall(reason, message, now)
}

// miss records a failed attempt that is followed by another.
func (r *Record) miss(reason, message string, now time.Time) {
	r.set(v1beta1.NotReady(reason, message), now)
	if !r.failedForGood() {
		r.busy(reason, message, now)
	}
}

// mitigates reports the progress of orphan mitigation after a failed attempt.
// Ready keeps the reason of that failure.
func (r *Record) mitigates(reason, message string, now time.Time) {
	r.set(v1beta1.OrphanMitigation(reason, message), now)
	if ready, _ := r.told(v1beta1.ConditionReady); ready.Status != v1beta1.ConditionFalse {
		r.set(v1beta1.Waiting(reason, message), now)
	}
	if !r.failedForGood() {
		r.busy(reason, message, now)
	}
}

// underWay reports that a call is about to be made. The conditions of the last
// attempt for the same spec stay until this one has a result, so that a
// resource that is retried does not flap.
func (r *Record) underWay(w wording, step Step, now time.Time) {
	if step == MitigateOrphan {
		before, is := r.told(v1beta1.ConditionOrphanMitigation)
		if !is {
			before.Reason, before.Message = w.inFlight, w.workMessage
		}
		r.mitigates(before.Reason, before.Message, now)
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

// retried is the condition of the last attempt, and whether this one is for the
// same spec.
func (r *Record) retried() (v1beta1.Condition, bool) {
	ready, _ := r.told(v1beta1.ConditionReady)
	return ready, ready.Status == v1beta1.ConditionFalse && ready.ObservedGeneration == r.ObservedGeneration && r.Retries > 0
}

// working reports that the broker works on it, which replaces the message of
// the last attempt. After a failed attempt Ready stays False, so that it does
// not flap.
func (r *Record) working(reason, message string, now time.Time) {
	if r.Mitigating {
		r.mitigates(reason, message, now)
		return
	}
	if r.failedForGood() {
		return
	}
	ready := v1beta1.Waiting(reason, message)
	if _, retried := r.retried(); retried {
		ready = v1beta1.NotReady(reason, message)
	}
	r.set(ready, now)
	r.busy(reason, message, now)
}

// resolve reports the rule by which the plan was decided.
func (r *Record) resolve(f *Facts) {
	if f.Desired.Rule == "" {
		r.unset(v1beta1.ConditionResolved)
		return
	}
	r.set(v1beta1.Resolved(camel(f.Desired.Rule), "the plan was decided on at admission by the rule "+f.Desired.Rule), f.Now)
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

// told is a condition of a type; false: there is none.
func (r *Record) told(typ string) (v1beta1.Condition, bool) {
	return v1beta1.FindCondition(r.Conditions, typ)
}

func (r *Record) holds(typ string) bool {
	c, _ := r.told(typ)
	return c.Status == v1beta1.ConditionTrue
}

// stalled says whether the attempt for this spec failed for good, and the spec
// has not changed since.
func (t *Resource) stalled(f *Facts) bool {
	if f.Desired != nil && t.Record.Refused != "" && t.Record.Refused != mark(&f.Desired.Request, f.Desired) {
		return false // a Secret or the catalog was mended
	}
	return t.Record.failedForGood() && t.Generation == t.Record.ObservedGeneration
}
