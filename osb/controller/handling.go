package controller

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/osb/controller/scope"
	"github.com/defaultplan/defaultplan/osb/lifecycle"
)

// A handling says which controller handles an object. Every controller computes
// the same one, so two never write to one object, unless one stands in for the
// other.
type handling struct {
	// name is the controller's; empty: the one without a name.
	name string
	// sure says that the object's broker says so. If the broker is not known,
	// name is the controller that handled the object last, or the controller
	// without a name.
	sure bool
	// seen says that a controller of that name handles the broker, or did.
	seen bool
}

// handlerOfInstance finds the handler of an instance: that of the broker at
// which it exists, otherwise that of the broker of its decided plan.
func (b *brokers) handlerOfInstance(ctx context.Context, i *v1beta1.ServiceInstance) (handling, error) {
	found, err := b.handlerOfRecord(ctx, lifecycle.OfInstance(i), i.Namespace)
	if err != nil || found.sure {
		return found, err
	}
	return b.handlerOfChoice(ctx, &i.Spec.DecidedReference, i.Namespace, i.Status.ControllerName)
}

// handlerOfBinding finds the handler of a binding: that of the broker at which
// it exists, of its decided plan, or of its instance.
func (b *brokers) handlerOfBinding(ctx context.Context, binding *v1beta1.ServiceBinding) (handling, error) {
	at, last := binding.InstanceKey(), binding.Status.ControllerName
	found, err := b.handlerOfRecord(ctx, lifecycle.OfBinding(binding), at.Namespace)
	if err != nil || found.sure {
		return found, err
	}
	found, err = b.handlerOfChoice(ctx, &binding.Spec.DecidedReference, at.Namespace, last)
	if err != nil || found.sure {
		return found, err
	}
	instance := &v1beta1.ServiceInstance{}
	err = b.reader.Get(ctx, at, instance)
	if apierrors.IsNotFound(err) && last == b.scope.Name {
		err = b.live.Get(ctx, at, instance)
	}
	switch {
	case apierrors.IsNotFound(err) || scope.Problem(err) != nil:
		return handling{name: last}, nil
	case err != nil:
		return handling{}, fmt.Errorf("cannot read instance %q: %w", at.Name, err)
	}
	found, err = b.handlerOfInstance(ctx, instance)
	if !found.sure && last != "" {
		found.name = last
	}
	return found, err
}

// handlerOfRecord is the handler of what was sent to a broker.
func (b *brokers) handlerOfRecord(ctx context.Context, thing lifecycle.Resource, namespace string) (handling, error) {
	target := thing.Record.Target()
	if target == nil {
		return handling{}, nil
	}
	return b.handlerOfBroker(ctx, &target.BrokerTarget, namespace)
}

// handlerOfChoice is the handler of the decided plan. The controller without a
// name reads what the cache does not have yet live, because it would be the
// handler otherwise.
func (b *brokers) handlerOfChoice(ctx context.Context, ref *v1beta1.DecidedReference, namespace, last string) (handling, error) {
	unknown := handling{name: last}
	if !ref.Decided() {
		return unknown, nil
	}
	catalogs := []catalogReader{{b.reader}}
	if last == b.scope.Name {
		catalogs = append(catalogs, catalogReader{b.live})
	}
	for _, catalog := range catalogs {
		chosen, _, err := catalog.offering(ctx, ref, namespace)
		if err != nil {
			return handling{}, err
		}
		if chosen == nil {
			continue
		}
		found, err := b.handlerOfBroker(ctx, &chosen.target, namespace)
		if err != nil || found.sure {
			return found, err
		}
	}
	return unknown, nil
}

func (b *brokers) handlerOfBroker(ctx context.Context, target *v1beta1.BrokerTarget, namespace string) (handling, error) {
	known, ok, err := b.find(ctx, keyOf(target, namespace))
	switch {
	case scope.Problem(err) != nil:
		return handling{}, nil
	case err != nil || !ok:
		return handling{}, err
	}
	name := known.spec.ControllerName
	return handling{name: name, sure: true, seen: name != "" && known.status.ControllerName == name}, nil
}

// mine says whether this controller handles the objects of a broker. Every
// controller handles those of a broker that does not exist.
func (b *brokers) mine(ctx context.Context, target *v1beta1.BrokerTarget, namespace string) (bool, error) {
	found, err := b.handlerOfBroker(ctx, target, namespace)
	return !found.sure || found.by(b.scope), err
}

// foreignPause is the time between two reads of what another controller
// handles, in multiples of the time between reads of what has no watch: a
// broker may be recreated and name another controller.
const foreignPause = 10

// busyPatience is the factor by which a controller that has handled the broker
// gets more time to handle an object: it may be busy.
const busyPatience = 10

// leave handles an object of another controller: it is reconciled again,
// because its broker may become known without an event. If that controller does
// not handle it, status says so.
func (e *engine) leave(ctx context.Context, o client.Object, found handling) (reconcile.Result, error) {
	if wait, is := e.untilStandIn(o); is {
		return reconcile.Result{RequeueAfter: max(wait, time.Second)}, nil
	}
	if found.sure {
		patience := 2 * e.timeout
		if found.seen {
			patience *= busyPatience
		}
		wait, err := tellUnseen(ctx, e.store.client, e.brokers.scope, o, unseen{by: found.name, patience: patience, now: e.clock.Now()})
		if err != nil || wait > 0 {
			return reconcile.Result{RequeueAfter: wait}, err
		}
	}
	pause := e.reread
	if found.sure {
		pause *= foreignPause
	}
	if pause <= 0 {
		return reconcile.Result{}, nil
	}
	return reconcile.Result{RequeueAfter: pause + time.Duration(rand.Int64N(int64(pause)))}, nil //nolint:gosec // it spreads looks
}

// What the controller of a name has not handled yet, and how long it has to do
// so.
type unseen struct {
	by       string
	patience time.Duration
	now      time.Time
}

// tellUnseen says in status which controller an object waits for that none has written to since it
// was created: else nothing would say why it waits. It returns how long that controller has still.
// That is told by the controller without a name, where it may look into all namespaces, and once.
func tellUnseen(ctx context.Context, c client.Client, s scope.Scope, o client.Object, u unseen) (wait time.Duration, err error) {
	next, _ := o.DeepCopyObject().(client.Object)
	conditions, last := conditionsOf(next)
	if s.Name != "" || s.Restricted() || o.GetDeletionTimestamp() != nil || len(*conditions) > 0 {
		return 0, nil
	}
	if wait := o.GetCreationTimestamp().Add(u.patience).Sub(u.now); wait > 0 {
		return wait, nil
	}
	waits := v1beta1.Waiting(v1beta1.ReasonWaitsForController, fmt.Sprintf("no controller called %q, which the broker names in spec.controllerName, has seen it yet", u.by))
	*conditions = v1beta1.SetCondition(*conditions, waits, o.GetGeneration(), metav1.NewTime(u.now))
	*last = v1beta1.LastConditionState(*conditions)
	patch := client.MergeFromWithOptions(o, client.MergeFromWithOptimisticLock{})
	if err := c.Status().Patch(ctx, next, patch, client.FieldOwner(v1beta1.FieldOwnerController)); client.IgnoreNotFound(err) != nil {
		return 0, fmt.Errorf("cannot write the status of %q: %w", o.GetName(), err)
	}
	return 0, nil
}

// conditionsOf are the conditions in the status of an object that a controller handles, and what
// they come to in a word.
func conditionsOf(o client.Object) (conditions *[]v1beta1.Condition, last *string) {
	switch o := o.(type) {
	case *v1beta1.ServiceInstance:
		return &o.Status.Conditions, &o.Status.LastConditionState
	case *v1beta1.ServiceBinding:
		return &o.Status.Conditions, &o.Status.LastConditionState
	}
	b := brokerOf(o)
	return &b.status.Conditions, &b.status.LastConditionState
}

// standsIn says whether this controller lets an object go that is another's: its user abandoned it,
// and there seems to be no controller of the name that its broker gives. Nothing is sent to a broker
// for that, and should the other one be there, it does the same: it writes what this one does.
func (e *engine) standsIn(o client.Object) bool {
	wait, is := e.untilStandIn(o)
	return is && wait <= 0
}

// untilStandIn is how long an abandoned object's own controller has to let it go. It may be in a call,
// whose outcome is lost if another writes meanwhile. The controller without a name stands in for it,
// where it may look into all namespaces.
func (e *engine) untilStandIn(o client.Object) (time.Duration, bool) {
	mine, deleted := e.brokers.scope, o.GetDeletionTimestamp()
	if mine.Name != "" || mine.Restricted() || deleted == nil || o.GetAnnotations()[v1beta1.AnnotationAbandon] != "true" {
		return 0, false
	}
	from := deleted.Add(2 * e.timeout)
	now := e.clock.Now()
	if deadline := deadlineOf(o); deadline.After(from) && deadline.Sub(now) <= e.maxDeadline() {
		from = deadline
	}
	return from.Sub(now), true
}

// deadlineOf is the end of a call that an object's controller may have in
// progress.
func deadlineOf(o client.Object) time.Time {
	switch o := o.(type) {
	case *v1beta1.ServiceInstance:
		return lifecycle.OfInstance(o).Record.Deadline
	case *v1beta1.ServiceBinding:
		return lifecycle.OfBinding(o).Record.Deadline
	}
	return time.Time{}
}

// nameFor is the controller's name that goes into an object's status, which has another one where
// this controller stands in for it. Were it changed, the two would write it in turn.
func (e *engine) nameFor(o client.Object, stored string) string {
	if e.standsIn(o) {
		return stored
	}
	return e.brokers.scope.Name
}

// by says whether an object is handled by the controller of a scope.
func (h handling) by(s scope.Scope) bool { return h.name == s.Name }
