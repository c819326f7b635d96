package lifecycle

import (
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/defaultplan/defaultplan/api/v1beta1"
)

// A report changes the conditions of a record, as observed at a generation and a time.
type report struct {
	conditions *[]v1beta1.Condition
	generation int64
	now        time.Time
}

func (p report) set(c v1beta1.Condition) {
	*p.conditions = v1beta1.SetCondition(*p.conditions, c, p.generation, metav1.Time{Time: p.now.Truncate(time.Second)})
}

func (p report) unset(types ...string) {
	for _, typ := range types {
		*p.conditions = v1beta1.RemoveCondition(*p.conditions, typ)
	}
}

// busy sets Reconciling: the controller is working on the resource.
func (p report) busy(reason, message string) {
	p.unset(v1beta1.ConditionStalled)
	p.set(v1beta1.Reconciling(reason, message))
}

// stall sets Stalled: nothing happens until a user acts.
func (p report) stall(reason, message string) {
	p.unset(v1beta1.ConditionReconciling)
	p.set(v1beta1.Stalled(reason, message))
}

// succeed sets Ready: the resource can be used.
func (p report) succeed(reason, message string) {
	p.unset(v1beta1.ConditionFailed, v1beta1.ConditionOrphanMitigation, v1beta1.ConditionReconciling, v1beta1.ConditionStalled)
	p.set(v1beta1.Ready(reason, message))
}

// fail sets Failed: the controller makes no further attempt until the spec changes.
func (p report) fail(reason, message string) {
	p.set(v1beta1.NotReady(reason, message))
	p.set(v1beta1.Failed(reason, message))
	p.stall(reason, message)
}

// miss reports a failed attempt that is followed by another.
func (p report) miss(reason, message string) {
	p.set(v1beta1.NotReady(reason, message))
	p.busyUnlessFailed(reason, message)
}

// mitigates reports the progress of orphan mitigation after a failed attempt.
// Ready keeps the reason of that failure.
func (p report) mitigates(reason, message string) {
	p.set(v1beta1.OrphanMitigation(reason, message))
	if ready, _ := v1beta1.FindCondition(*p.conditions, v1beta1.ConditionReady); ready.Status != v1beta1.ConditionFalse {
		p.set(v1beta1.Waiting(reason, message))
	}
	p.busyUnlessFailed(reason, message)
}

func (p report) busyUnlessFailed(reason, message string) {
	if failed, _ := v1beta1.FindCondition(*p.conditions, v1beta1.ConditionFailed); failed.Status != v1beta1.ConditionTrue {
		p.busy(reason, message)
	}
}

// resolve reports the rule by which the plan was decided.
func (p report) resolve(rule string) {
	if rule == "" {
		p.unset(v1beta1.ConditionResolved)
		return
	}
	p.set(v1beta1.Resolved(camel(rule), "the plan was decided on at admission by the rule "+rule))
}

// camel makes a reason of a rule's words: "class-default" is ClassDefault.
func camel(rule string) string {
	var b strings.Builder
	for _, word := range strings.FieldsFunc(rule, func(c rune) bool { return c == '-' || c == ' ' || c == '_' }) {
		b.WriteString(strings.ToUpper(word[:1]) + word[1:])
	}
	return b.String()
}
