package defaults

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/events"

	"github.com/defaultplan/defaultplan/webhook/suggest"
)

// The reasons and actions of the keeper's events about defaults.
const (
	reasonDefaultRecorded = "DefaultRecorded"
	reasonDefaultCleared  = "DefaultCleared"
	reasonDefaultRepaired = "DefaultRepaired"
	actionSettle          = "Settle"
)

// A defaultEvent is an event on an object about a type's default.
type defaultEvent struct {
	about  runtime.Object
	reason string
	note   string
}

// defaultEvents are the events of an action that succeeded.
func defaultEvents(v *typeView, a action) []defaultEvent {
	of := "the default plan of type " + fmt.Sprintf("%q", v.at.Name)
	switch a.verb {
	case recordPlan:
		recorded := []defaultEvent{{v.plan(a.plan).object, reasonDefaultRecorded, "is " + of + " now"}}
		if a.former != "" {
			recorded = append(recorded, v.lost(a.former, of, a.why)...)
		}
		return recorded
	case clearRecord:
		return v.lost(a.plan, of, a.why)
	case annotatePlan:
		return []defaultEvent{{v.plan(a.plan).object, reasonDefaultRepaired, "is annotated as " + of + ", because it is recorded so"}}
	case unannotatePlan:
		holder := v.kept.recorded()
		return []defaultEvent{
			{v.plan(a.plan).object, reasonDefaultRepaired, fmt.Sprintf("is not annotated as %s any more: plan %q is recorded so (to switch: %s)",
				of, holder, v.switchTo(a.plan))},
			{v.plan(holder).object, reasonDefaultRepaired, fmt.Sprintf("is recorded as %s: plan %q, which was annotated so too, is not any more", of, a.plan)},
		}
	default:
		return nil
	}
}

// lost returns the events for a plan that is no longer the default: on the
// type, and on the plan if it still exists.
func (v *typeView) lost(plan, of, why string) []defaultEvent {
	lost := []defaultEvent{{v.kept.TypeObject, reasonDefaultCleared, fmt.Sprintf("plan %q is not %s any more: %s", plan, of, why)}}
	if p := v.plan(plan); p != nil {
		lost = append(lost, defaultEvent{p.object, reasonDefaultCleared, "is not " + of + " any more: " + why})
	}
	return lost
}

// switchTo is the command that makes a plan of the view the default of its type.
func (v *typeView) switchTo(name string) suggest.Ways {
	plan := &v.plan(name).PlanEntry
	return suggest.PlanOf(plan, v.classesByName()[plan.Class]).Switch(v.at.Name)
}

// announce emits the events of an action.
func announce(recorder events.EventRecorder, v *typeView, a action) {
	for _, e := range defaultEvents(v, a) {
		recorder.Eventf(e.about, nil, corev1.EventTypeNormal, e.reason, actionSettle, "%s", e.note)
	}
}
