package controller

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/osb/controller/broker"
	"github.com/defaultplan/defaultplan/osb/controller/catalog"
	"github.com/defaultplan/defaultplan/osb/controller/queue"
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

// owners finds who handles what.
type owners struct{ *broker.Clients }

// handlerOfInstance finds the handler of an instance: that of the broker at which it is,
// else of the broker whose plan it is to have.
func (w owners) handlerOfInstance(ctx context.Context, i *v1beta1.ServiceInstance) (handling, error) {
	found, err := w.handlerOfRecord(ctx, lifecycle.OfInstance(i), i.Namespace)
	if err != nil || found.sure {
		return found, err
	}
	return w.handlerOfChoice(ctx, &i.Spec.DecidedReference, i.Namespace, i.Status.ControllerName)
}

// handlerOfBinding finds the handler of a binding: that of the broker at which
// it exists, of its decided plan, or of its instance.
func (w owners) handlerOfBinding(ctx context.Context, binding *v1beta1.ServiceBinding) (handling, error) {
	at, last := binding.InstanceKey(), binding.Status.ControllerName
	found, err := w.handlerOfRecord(ctx, lifecycle.OfBinding(binding), at.Namespace)
	if err != nil || found.sure {
		return found, err
	}
	found, err = w.handlerOfChoice(ctx, &binding.Spec.DecidedReference, at.Namespace, last)
	if err != nil || found.sure {
		return found, err
	}
	instance := &v1beta1.ServiceInstance{}
	err = w.Reader.Get(ctx, at, instance)
	if apierrors.IsNotFound(err) && last == w.Scope.Name {
		err = w.Live.Get(ctx, at, instance)
	}
	switch {
	case apierrors.IsNotFound(err) || scope.Problem(err) != nil:
		return handling{name: last}, nil
	case err != nil:
		return handling{}, fmt.Errorf("cannot read instance %q: %w", at.Name, err)
	}
	found, err = w.handlerOfInstance(ctx, instance)
	if !found.sure && last != "" {
		found.name = last
	}
	return found, err
}

// handlerOfRecord is the handler of what was sent to a broker.
func (w owners) handlerOfRecord(ctx context.Context, thing lifecycle.Resource, namespace string) (handling, error) {
	target := thing.Record.Target()
	if target == nil {
		return handling{}, nil
	}
	return w.handlerOfBroker(ctx, &target.BrokerTarget, namespace)
}

// handlerOfChoice is the handler of the decided plan. The controller without a
// name reads what the cache does not have yet live, because it would be the
// handler otherwise.
func (w owners) handlerOfChoice(ctx context.Context, ref *v1beta1.DecidedReference, namespace, last string) (handling, error) {
	unknown := handling{name: last}
	if !ref.Decided() {
		return unknown, nil
	}
	readers := []catalog.Reader{catalog.NewReader(w.Reader)}
	if last == w.Scope.Name {
		readers = append(readers, catalog.NewReader(w.Live))
	}
	for _, reader := range readers {
		chosen, _, err := reader.Decided(ctx, ref, namespace)
		if err != nil {
			return handling{}, err
		}
		if chosen == nil {
			continue
		}
		found, err := w.handlerOfBroker(ctx, &chosen.Target, namespace)
		if err != nil || found.sure {
			return found, err
		}
	}
	return unknown, nil
}

func (w owners) handlerOfBroker(ctx context.Context, target *v1beta1.BrokerTarget, namespace string) (handling, error) {
	known, ok, err := w.Find(ctx, broker.KeyOf(target, namespace))
	switch {
	case scope.Problem(err) != nil:
		return handling{}, nil
	case err != nil || !ok:
		return handling{}, err
	}
	name := known.Spec.ControllerName
	return handling{name: name, sure: true, seen: name != "" && known.Status.ControllerName == name}, nil
}

// mine says whether this controller handles the objects of a broker. Every
// controller handles those of a broker that does not exist.
func (w owners) mine(ctx context.Context, target *v1beta1.BrokerTarget, namespace string) (bool, error) {
	found, err := w.handlerOfBroker(ctx, target, namespace)
	return !found.sure || found.by(w.Scope), err
}

// A task is the reconciling of one object, if this controller handles it.
type task struct {
	reader client.Reader
	// object is what the object is read into.
	object  client.Object
	handler func(context.Context) (handling, error)
	// pass returns the time until the next pass; 0: none.
	pass func(context.Context) (time.Duration, error)
}

// reconcile does the task of an object that this controller handles, and leaves others alone.
func (e *engine) reconcile(ctx context.Context, at client.ObjectKey, t task) (reconcile.Result, error) {
	e.rests.Forget(at) // it is counted again where it comes to rest
	if err := t.reader.Get(ctx, at, t.object); err != nil {
		if apierrors.IsNotFound(err) {
			e.failing.Gone(at)
		}
		return reconcile.Result{}, unread(ctx, err)
	}
	if t.object.GetDeletionTimestamp() != nil && !controllerutil.ContainsFinalizer(t.object, v1beta1.FinalizerServiceCatalog) {
		e.failing.Gone(at)
		return reconcile.Result{}, nil
	}
	found, err := t.handler(ctx)
	if err != nil {
		return reconcile.Result{}, err
	}
	if !found.by(e.brokers.Scope) && !e.standsIn(t.object) {
		e.failing.Gone(at)
		return queue.AfterConflict(e.leave(ctx, t.object, found))
	}
	after, err := t.pass(ctx)
	return queue.AfterConflict(reconcile.Result{RequeueAfter: after}, err)
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
		wait, err := scope.TellUnseen(ctx, e.store.client, e.brokers.Scope, o, scope.Unseen{By: found.name, Patience: patience, Now: e.clock.Now()})
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
	mine, deleted := e.brokers.Scope, o.GetDeletionTimestamp()
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
	return e.brokers.Scope.Name
}

// by says whether an object is handled by the controller of a scope.
func (h handling) by(s scope.Scope) bool { return h.name == s.Name }

// observe finds out how the broker of a pass does. Its 404 is believed where its catalog was
// read since the removal began: its address is right.
func (e *engine) observe(ctx context.Context, found *inputs, r *lifecycle.Record) error {
	known, ok, err := e.brokers.Find(ctx, found.broker)
	if problem := scope.Problem(err); problem != nil {
		found.Desired, found.Problem = nil, problem
		return nil
	}
	if err != nil {
		return err
	}
	// A broker that is not known is not known to be gone.
	found.BrokerGone = !ok && found.broker != broker.Key{}
	found.reread = found.reread || found.BrokerGone
	if ok {
		found.foreign = known.Spec.ControllerName != e.brokers.Scope.Name
		found.BrokerReady = r.Operation == lifecycle.Deprovisioning && e.brokers.AnsweredSince(found.broker, known, r.Started)
	}
	return nil
}
