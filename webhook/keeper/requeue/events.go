package requeue

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/webhook/suggest"
)

// The reasons and actions of the keeper's events.
const (
	// maxNote is the API server's limit, in bytes. Names that need quoting
	// could exceed it.
	maxNote         = 1024
	reasonUndecided = "Undecided"
	actionTouch     = "Touch"
)

// A notice is an event for an object's user.
type notice struct {
	object client.Object
	note   string
}

// undecidedEvent says what an object waits for.
func (t *requeuer) undecidedEvent(ctx context.Context, object client.Object) notice {
	if instance := t.instanceFor(ctx, object); instance != nil && instance.Spec.Decided() {
		return notice{object, fmt.Sprintf("admission cannot bind to instance %q yet (%s)", instance.Name, toSeeWhy(object))}
	}
	return notice{object, "waits for " + t.wantedBy(ctx, object) + ": it is decided on as soon as there is one"}
}

// deniedEvent says that admission denies the object, and how to see why: the
// denial itself is not repeated, because other hooks may quote the object in
// it.
func (t *requeuer) deniedEvent(ctx context.Context, object client.Object) notice {
	return notice{object, fmt.Sprintf("admission refused the last try (%s); it waits for %s", toSeeWhy(object), t.wantedBy(ctx, object))}
}

func toSeeWhy(object client.Object) string {
	kind := "ServiceInstance"
	if _, isBinding := object.(*v1beta1.ServiceBinding); isBinding {
		kind = "ServiceBinding"
	}
	return "to see why: " + suggest.Order{Kind: kind, Namespace: object.GetNamespace(), Name: object.GetName()}.Explain().String()
}

// A telling is the last event of an object.
type telling struct {
	generation int64
	note       string
}

// tell emits an event, unless it repeats the last event of this generation.
func (t *requeuer) tell(e notice) {
	note := e.note
	if len(note) > maxNote {
		note = strings.ToValidUTF8(note[:maxNote], "")
	}
	now := telling{generation: e.object.GetGeneration(), note: note}
	if known, ok := t.told.Get(e.object.GetUID()); ok && known == now {
		return
	}
	t.told.Add(e.object.GetUID(), now)
	// The note may hold a per cent sign that a user wrote.
	t.options.Recorder.Eventf(e.object, nil, corev1.EventTypeWarning, reasonUndecided, actionTouch, "%s", note)
}

// wantedBy is what an object waits for, in words.
func (t *requeuer) wantedBy(ctx context.Context, object client.Object) string {
	switch o := object.(type) {
	case *v1beta1.ServiceInstance:
		return wanted(&o.Spec)
	case *v1beta1.ServiceBinding:
		if o.Dedicated() {
			return wanted(new(o.Spec.OwnInstance()))
		}
		at, _ := instanceOf(o)
		words := "instance " + strconv.Quote(at.Name)
		if instance := t.instanceFor(ctx, o); instance != nil && waits(instance) {
			words += ", which waits for " + wanted(&instance.Spec)
		}
		return words
	}
	return ""
}

// instanceFor is the instance of a binding as the cache has it, or nil.
func (t *requeuer) instanceFor(ctx context.Context, object client.Object) *v1beta1.ServiceInstance {
	binding, isBinding := object.(*v1beta1.ServiceBinding)
	if !isBinding {
		return nil
	}
	at, ok := instanceOf(binding)
	if !ok {
		return nil
	}
	// What cannot be read is left out of the event.
	instance := &v1beta1.ServiceInstance{}
	if err := t.options.Client.Get(ctx, at, instance); err != nil || instance.DeletionTimestamp != nil {
		return nil
	}
	return instance
}

// wanted describes the plan that an instance waits for. It has names only:
// selectors and parameters are private to the user.
func wanted(spec *v1beta1.ServiceInstanceSpec) string {
	class := cmp.Or(
		spec.ClusterServiceClassExternalName, spec.ClusterServiceClassExternalID, spec.ClusterServiceClassName,
		spec.ServiceClassExternalName, spec.ServiceClassExternalID, spec.ServiceClassName)
	plan := cmp.Or(
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
