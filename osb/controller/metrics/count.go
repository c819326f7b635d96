package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
)

// A condition is the part of an object's state that is counted.
type condition struct {
	object              client.Object
	decided, mitigating bool
	// operation runs, by the name that calls have; empty: none does.
	operation  string
	started    *metav1.Time
	conditions []v1beta1.Condition
}

// The states that objects are counted by; each is in one.
const (
	stateDeleting   = "deleting"
	stateMitigating = "mitigating"
	stateUndecided  = "undecided"
	stateInProgress = "in_progress"
	stateReady      = "ready"
	stateFailed     = "failed"
	stateWaiting    = "waiting"
)

var states = []string{stateDeleting, stateMitigating, stateUndecided, stateInProgress, stateReady, stateFailed, stateWaiting}

// state is the first that applies, the most important first.
func (c *condition) state() string {
	is := func(typ string) bool {
		found, _ := v1beta1.FindCondition(c.conditions, typ)
		return found.Status == v1beta1.ConditionTrue
	}
	switch {
	case c.object.GetDeletionTimestamp() != nil:
		return stateDeleting
	case c.mitigating:
		return stateMitigating
	case !c.decided:
		return stateUndecided
	case c.operation != "":
		return stateInProgress
	case is(v1beta1.ConditionReady):
		return stateReady
	case is(v1beta1.ConditionFailed):
		return stateFailed
	}
	return stateWaiting
}

// ages are what operations are counted by: the first that is longer than it has run.
var ages = []struct {
	below time.Duration
	label string
}{{time.Minute, "1m"}, {10 * time.Minute, "10m"}, {time.Hour, "1h"}, {24 * time.Hour, "1d"}}

// ageOlder is the age of all others.
const ageOlder = "older"

func ageOf(age time.Duration) string {
	for _, a := range ages {
		if age < a.below {
			return a.label
		}
	}
	return ageOlder
}

// A count is of the objects of one kind.
type count struct {
	kind   string
	now    time.Time
	states map[string]int
	// operations are counted by what they are and their age.
	operations map[string]map[string]int
	oldest     map[string]time.Time
}

// newCount starts with zeros that are always exported, because alerts may
// compare them.
func newCount(kind string, now time.Time, operations ...string) *count {
	c := &count{kind: kind, now: now, states: map[string]int{}, operations: map[string]map[string]int{}, oldest: map[string]time.Time{}}
	for _, state := range states {
		c.states[state] = 0
	}
	for _, operation := range operations {
		c.operations[operation] = map[string]int{ageOlder: 0}
		for _, age := range ages {
			c.operations[operation][age.label] = 0
		}
	}
	return c
}

func (c *count) add(o *condition) {
	c.states[o.state()]++
	if o.operation == "" || o.started == nil {
		return
	}
	c.operations[o.operation][ageOf(c.now.Sub(o.started.Time))]++
	if oldest, known := c.oldest[o.operation]; !known || o.started.Time.Before(oldest) {
		c.oldest[o.operation] = o.started.Time
	}
}

func (c *count) tell(samples chan<- prometheus.Metric) {
	for state, n := range c.states {
		samples <- gauge(objectsIn, float64(n), c.kind, state)
	}
	for operation, byAge := range c.operations {
		for age, n := range byAge {
			samples <- gauge(operationsNow, float64(n), c.kind, operation, age)
		}
	}
	for operation, oldest := range c.oldest {
		samples <- gauge(operationsOldest, float64(oldest.Unix()), c.kind, operation)
	}
}
