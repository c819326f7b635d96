package keeper

import (
	"fmt"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/defaultplan/defaultplan/api/v1beta1"
)

// What the keeper's events say.
const (
	// maxNote is what the API server takes, in bytes. Names that need quoting
	// could exceed it.
	maxNote         = 1024
	reasonUndecided = "Undecided"
	actionTouch     = "Touch"
)

// An event is what an instance's user is told about it.
type event struct {
	instance *v1beta1.ServiceInstance
	note     string
}

// undecidedEvent says what an instance waits for.
func undecidedEvent(instance *v1beta1.ServiceInstance) event {
	return event{instance, "waits for " + wanted(&instance.Spec) + ": it is decided on as soon as there is one"}
}

// deniedEvent says that admission refuses what it would decide, and how to see
// why: the refusal itself is not repeated, since hooks that are not ours may
// quote the object in it.
func deniedEvent(instance *v1beta1.ServiceInstance) event {
	return event{instance, fmt.Sprintf("admission refused the last try (to see why: kubectl patch serviceinstances.%s %s -n %s --type=merge -p '{}'); it waits for %s",
		v1beta1.GroupName, instance.Name, instance.Namespace, wanted(&instance.Spec))}
}

// tell makes an event, once for each generation of an instance.
func (t *term) tell(e event) {
	known, ok := t.told.Get(e.instance.UID)
	if ok && known == e.instance.Generation {
		return
	}
	t.told.Add(e.instance.UID, e.instance.Generation)
	note := e.note
	if len(note) > maxNote {
		note = strings.ToValidUTF8(note[:maxNote], "")
	}
	// The note may hold a per cent sign that a user wrote.
	t.options.Recorder.Eventf(e.instance, nil, corev1.EventTypeWarning, reasonUndecided, actionTouch, "%s", note)
}

// wanted is the plan that an instance waits for, in words. Names only: what a
// selector selects by and what parameters hold is nobody else's business.
func wanted(spec *v1beta1.ServiceInstanceSpec) string {
	class := firstOf(
		spec.ClusterServiceClassExternalName, spec.ClusterServiceClassExternalID, spec.ClusterServiceClassName,
		spec.ServiceClassExternalName, spec.ServiceClassExternalID, spec.ServiceClassName)
	plan := firstOf(
		spec.ClusterServicePlanExternalName, spec.ClusterServicePlanExternalID, spec.ClusterServicePlanName,
		spec.ServicePlanExternalName, spec.ServicePlanExternalID, spec.ServicePlanName)
	kind := "a default plan"
	switch {
	case plan != "":
		kind = "plan " + strconv.Quote(plan)
	case spec.PlanSelector != nil:
		kind = "a plan that planSelector matches"
	}
	words := []string{kind}
	if class != "" {
		words = append(words, "of class "+strconv.Quote(class))
	}
	if spec.ServiceType != "" {
		words = append(words, "of type "+strconv.Quote(spec.ServiceType))
	}
	return strings.Join(words, " ")
}

func firstOf(names ...string) string {
	for _, name := range names {
		if name != "" {
			return name
		}
	}
	return ""
}
