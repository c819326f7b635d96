package controller

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/osb/lifecycle"
)

// A handling says which controller an object is for. Every controller finds the same one,
// so that never two write to one object.
type handling struct {
	// name is the controller's; empty: the one without a name.
	name string
	// sure says that the object's broker says so. Where the broker is not known, it is
	// whoever handled the object last, or the controller without a name.
	sure bool
}

// handlerOfInstance finds the handler of an instance: that of the broker at which it is,
// else of the broker whose plan it is to have.
func (b *brokers) handlerOfInstance(ctx context.Context, i *v1beta1.ServiceInstance) (handling, error) {
	found, err := b.handlerOfRecord(ctx, lifecycle.OfInstance(i), i.Namespace)
	if err != nil || found.sure {
		return found, err
	}
	return b.handlerOfChoice(ctx, &i.Spec.DecidedReference, i.Namespace, i.Status.ControllerName)
}

// handlerOfBinding finds the handler of a binding: that of the broker at which it is, of
// the plan that was decided on for it, or of its instance.
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
	if apierrors.IsNotFound(err) && last == b.scope.name {
		err = b.live.Get(ctx, at, instance)
	}
	switch {
	case apierrors.IsNotFound(err) || beyond(err) != nil:
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
func (b *brokers) handlerOfRecord(ctx context.Context, thing lifecycle.Thing, namespace string) (handling, error) {
	target := thing.Record.Target()
	if target == nil {
		return handling{}, nil
	}
	return b.handlerOfBroker(ctx, &target.BrokerTarget, namespace)
}

// handlerOfChoice is the handler of the plan that was decided on. What the cache does not
// have yet is read from the API server by the controller that would get it otherwise.
func (b *brokers) handlerOfChoice(ctx context.Context, ref *v1beta1.DecidedReference, namespace, last string) (handling, error) {
	unknown := handling{name: last}
	if !ref.Decided() {
		return unknown, nil
	}
	catalogs := []catalogReader{{b.reader}}
	if last == b.scope.name {
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
	case beyond(err) != nil:
		return handling{}, nil
	case err != nil || !ok:
		return handling{}, err
	}
	return handling{name: known.spec.ControllerName, sure: true}, nil
}

// foreignPause is the time between two looks at what another controller handles, in looks
// at what no watch tells of: a broker may be made anew and name another.
const foreignPause = 10

// leave is what becomes of an object that another controller handles: nothing, but that it
// is looked at again. Its broker may come to be known, and no watch tells of that.
func (e *engine) leave(found handling) reconcile.Result {
	pause := e.reread
	if found.sure {
		pause *= foreignPause
	}
	if pause <= 0 {
		return reconcile.Result{}
	}
	return reconcile.Result{RequeueAfter: pause + time.Duration(rand.Int64N(int64(pause)))} //nolint:gosec // it spreads looks
}

// handles says whether an object of a broker's is this controller's.
func (s scope) handles(found handling) bool { return found.name == s.name }

// counts says whether an object is one that this controller counts: every object is
// counted by the controller that handled it last.
func (s scope) counts(o client.Object) bool {
	switch o := o.(type) {
	case *v1beta1.ServiceInstance:
		return o.Status.ControllerName == s.name
	case *v1beta1.ServiceBinding:
		return o.Status.ControllerName == s.name
	}
	return true
}
