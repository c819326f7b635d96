package world

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/osb"
	"github.com/defaultplan/defaultplan/osb/controller/indexes"
	"github.com/defaultplan/defaultplan/osb/controller/relist"
)

const (
	// largestCatalog is how many bytes of a catalog are read: as many as the controller does by default.
	largestCatalog = 32 << 20
	// mostRelists bounds how often a catalog is taken over because names became free.
	mostRelists = 3
	// toldSkips is how many skipped parts are told.
	toldSkips = 10
)

// Relist takes over what a broker would list, as the controller does: what the catalog does
// not list any more is marked, and deleted where nothing uses it.
func (w *World) Relist(ctx context.Context, namespace, name string, answer []byte) error {
	catalog, err := readCatalog(name, answer)
	if err != nil {
		return err
	}
	broker := v1beta1.NewBroker(namespace)
	object, _ := broker.(client.Object)
	if err := w.Reader().Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, object); err != nil {
		return fmt.Errorf("cannot take over a catalog of broker %q, which is not in %s", name, where(namespace))
	}
	of, err := relist.BrokerOf(object)
	if err != nil {
		return fmt.Errorf("cannot take over the catalog of broker %q: %w", name, err)
	}
	engine := w.engine()
	for range mostRelists {
		again, err := w.relist(ctx, engine, of, catalog)
		if err != nil || !again {
			return err
		}
	}
	return nil
}

// leave does what the controller does for a broker that is being deleted: its classes and
// plans are marked, and once no instance has any of them, they and the broker go.
func (w *World) leave(ctx context.Context, at client.ObjectKey) error {
	object, _ := v1beta1.NewBroker(at.Namespace).(client.Object)
	if err := w.Reader().Get(ctx, at, object); err != nil || object.GetDeletionTimestamp() == nil {
		return client.IgnoreNotFound(err) //nolint:wrapcheck // it names the broker
	}
	of, _ := relist.BrokerOf(object) // restrictions do not matter any more
	engine := w.engine()
	if _, err := engine.MarkGone(ctx, of, func(relist.Marking) error { return nil }); err != nil {
		return err //nolint:wrapcheck // it names the broker
	}
	if err := w.settle(ctx); err != nil {
		return err
	}
	if used, err := w.uses(ctx, engine, of); err != nil || used {
		return err
	}
	remaining, err := engine.Delete(ctx, of)
	if err != nil || remaining > 0 {
		return err //nolint:wrapcheck // it names the broker
	}
	object.SetFinalizers(slices.DeleteFunc(object.GetFinalizers(), func(f string) bool { return f == v1beta1.FinalizerServiceCatalog }))
	if err := w.controller.Update(ctx, object); client.IgnoreNotFound(err) != nil {
		return err //nolint:wrapcheck // it names the broker
	}
	return w.settle(ctx)
}

// uses says whether an instance has a class or plan of a broker, or was sent to it.
func (w *World) uses(ctx context.Context, engine *relist.Engine, of relist.Broker) (bool, error) {
	refs, err := engine.Offerings(ctx, of)
	if err != nil {
		return false, err //nolint:wrapcheck // it names the broker
	}
	for _, ref := range refs {
		var list v1beta1.ServiceInstanceList
		err := w.Reader().List(ctx, &list, client.InNamespace(ref.Namespace), client.MatchingFields{relist.RefersTo(ref.Kind): ref.Name}, client.UnsafeDisableDeepCopy)
		if err != nil || len(list.Items) > 0 {
			return true, err //nolint:wrapcheck // it names the kind
		}
	}
	return w.hasInstances(ctx, of)
}

// hasInstances says whether an instance was sent to a broker: its class and plan may be gone.
func (w *World) hasInstances(ctx context.Context, of relist.Broker) (bool, error) {
	var list v1beta1.ServiceInstanceList
	if err := w.Reader().List(ctx, &list, client.InNamespace(of.Namespace), client.UnsafeDisableDeepCopy); err != nil {
		return false, err //nolint:wrapcheck // it names the kind
	}
	target := indexes.BrokerValue(of.Namespace, of.Name)
	return slices.ContainsFunc(list.Items, func(i v1beta1.ServiceInstance) bool { return slices.Contains(indexes.TargetsOf(&i), target) }), nil
}

// engine writes as the controller. One worker makes its order the same each time.
func (w *World) engine() *relist.Engine {
	return &relist.Engine{Client: w.controller, Reader: w.Reader(), Live: w.Reader(), Workers: 1}
}

func readCatalog(broker string, answer []byte) (*osb.Catalog, error) {
	if len(answer) > largestCatalog {
		return nil, fmt.Errorf("the catalog of broker %q has %d bytes; at most %d are allowed", broker, len(answer), largestCatalog)
	}
	catalog := &osb.Catalog{}
	// What the decoder's own error quotes may be anything.
	if !json.Valid(answer) {
		return nil, fmt.Errorf("the catalog of broker %q is not JSON; give what the broker answers to GET /v2/catalog", broker)
	}
	if err := json.Unmarshal(answer, catalog); err != nil {
		return nil, fmt.Errorf("the catalog of broker %q: %w; give what the broker answers to GET /v2/catalog", broker, err)
	}
	return catalog, nil
}

// relist takes the catalog over once, and says whether names became free that it needs.
func (w *World) relist(ctx context.Context, engine *relist.Engine, of relist.Broker, catalog *osb.Catalog) (again bool, err error) {
	result, err := engine.Relist(ctx, of, catalog, func(p relist.Progress) error {
		if p.Marking.Marked == 0 && p.Marking.Total > 0 && p.Marking.Shrank() {
			w.notef("the catalog of broker %q lacks %d of the %d classes and plans that it listed: the controller reads it again after a minute, before it deletes any",
				of.Name, p.Marking.Lost, p.Marking.Before)
			w.unknownf("whether broker %q lists so little again: its catalog lacks %d of %d classes and plans, so the controller reads it twice before it removes any, "+
				"and what is said here holds if it lacks them both times",
				of.Name, p.Marking.Lost, p.Marking.Before)
		}
		return nil
	})
	if err != nil {
		return false, err //nolint:wrapcheck // it names the broker
	}
	w.tell(of.Name, &result)
	if err := w.settle(ctx); err != nil {
		return false, err
	}
	_, deleted, err := engine.Sweep(ctx, of, func() error { return nil })
	if err != nil {
		return false, err //nolint:wrapcheck // it names the object
	}
	return deleted > 0 && result.Moved > 0, w.settle(ctx)
}

// tell notes what was not taken over.
func (w *World) tell(broker string, result *relist.Result) {
	for _, skipped := range result.Skipped[:min(len(result.Skipped), toldSkips)] {
		w.notef("of the catalog of broker %q: %s", broker, skipped)
	}
	if more := len(result.Skipped) - toldSkips; more > 0 {
		w.notef("of the catalog of broker %q: and %d more", broker, more)
	}
	for _, failed := range result.Failed[:min(len(result.Failed), toldSkips)] {
		w.notef("of the catalog of broker %q: %s", broker, failed.Error())
	}
}
