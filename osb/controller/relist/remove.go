package relist

import (
	"context"
	"errors"
	"fmt"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
)

// errInUse says that something refers to an object, or may.
var errInUse = errors.New("it is in use")

// mark marks the broker's objects that the catalog lists no more, so that nothing new
// is provisioned from them, and takes the mark from user-defined objects whose IDs it
// lists: their broker was gone and is back.
func (r *run) mark(ctx context.Context, wanted *Objects) {
	unlisted := append(r.unlisted(wanted), r.moved...)
	r.result.Removed = len(unlisted)
	r.parallel(len(unlisted), func(i int) {
		if !unlisted[i].removed {
			r.setStatus(ctx, unlisted[i], map[string]any{statusRemoved: true})
		}
	})
	for _, live := range r.shelf.userDefined(r.broker) {
		if live.removed && wanted.Listed[live.externalID] {
			r.setStatus(ctx, live, map[string]any{statusRemoved: false})
		}
	}
}

// unlisted are the broker's objects that its catalog does not list, nor lists in a way
// that cannot be taken.
func (r *run) unlisted(wanted *Objects) []*found {
	kept := map[Kind]map[string]bool{}
	for kind := range kinds {
		kept[kind] = map[string]bool{}
	}
	for i := range wanted.Classes {
		kept[wanted.Classes[i].Kind][wanted.Classes[i].Name] = true
		for k := range wanted.Classes[i].Plans {
			kept[wanted.Classes[i].Plans[k].Kind][wanted.Classes[i].Plans[k].Name] = true
		}
	}
	var unlisted []*found
	for _, live := range r.shelf.owned(r.broker) {
		if !kept[live.kind][live.GetName()] && !wanted.Unfit[live.externalID] && !live.unmanaged() && !r.unread(wanted, live) {
			unlisted = append(unlisted, live)
		}
	}
	return unlisted
}

// unread says that an object may be of a part of the catalog that could not be read.
func (r *run) unread(wanted *Objects, live *found) bool {
	if len(wanted.Unread) == 0 {
		return false
	}
	if kinds[live.kind].class == "" {
		return wanted.Unread[unreadName(live.externalName, "")]
	}
	class, _ := kindsOf(r.broker.Namespace)
	of := r.shelf.objects[class][live.class]
	return of != nil && (wanted.Unread[unreadName(of.externalName, "")] || wanted.Unread[unreadName(of.externalName, live.externalName)])
}

// Sweep deletes the broker's objects that are marked as removed and that nothing
// refers to, plans before classes. It returns how many stay, since they are in use.
// It is called some time after the mark was written, so that admission knows of it.
func (e *Engine) Sweep(ctx context.Context, broker Broker) (remaining int, err error) {
	shelf, err := e.shelf(ctx, &broker)
	if err != nil {
		return 0, err
	}
	var marked []*found
	for _, live := range shelf.owned(&broker) {
		if live.removed && !live.unmanaged() {
			marked = append(marked, live)
		}
	}
	return e.deleteUnused(ctx, marked, usersOf)
}

// MarkGone marks all that names a broker, user-defined objects too: the broker is being
// deleted. It returns how many it marked.
func (e *Engine) MarkGone(ctx context.Context, broker Broker) (marked int, err error) {
	shelf, err := e.shelf(ctx, &broker)
	if err != nil {
		return 0, err
	}
	var left []*found
	for _, live := range append(shelf.owned(&broker), shelf.userDefined(&broker)...) {
		if !live.removed {
			left = append(left, live)
		}
	}
	failures := make([]error, len(left))
	e.parallel(len(left), func(i int) {
		failures[i] = gone(e.setStatus(ctx, left[i], map[string]any{statusRemoved: true}))
	})
	return len(left), errors.Join(failures...)
}

// gone passes over that an object is not there any more, or not the same.
func gone(err error) error {
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
		return nil
	}
	return err
}

// Delete deletes all that a broker owns and that no instance or binding refers to,
// plans before classes. User-defined plans do not keep a class: their broker goes. It
// returns how many stay.
func (e *Engine) Delete(ctx context.Context, broker Broker) (remaining int, err error) {
	shelf, err := e.shelf(ctx, &broker)
	if err != nil {
		return 0, err
	}
	return e.deleteUnused(ctx, shelf.owned(&broker), func(Kind) []client.ObjectList { return usersOf("") })
}

// deleteUnused deletes plans, and once these are gone classes. usersOf are those of a
// kind that keep it.
func (e *Engine) deleteUnused(ctx context.Context, objects []*found, usersOf func(Kind) []client.ObjectList) (remaining int, err error) {
	var phases [2][]*found
	for _, live := range objects {
		phase := 0
		if kinds[live.kind].class == "" {
			phase = 1
		}
		phases[phase] = append(phases[phase], live)
	}
	var mutex sync.Mutex
	var failures []error
	for _, phase := range phases {
		e.parallel(len(phase), func(i int) {
			err := e.deleteIfUnused(ctx, phase[i], usersOf(phase[i].kind))
			if err == nil {
				return
			}
			mutex.Lock()
			defer mutex.Unlock()
			remaining++
			if !errors.Is(err, errInUse) {
				failures = append(failures, err)
			}
		})
	}
	return remaining, errors.Join(failures...)
}

// deleteIfUnused asks the cache first, and the API server right before it deletes.
func (e *Engine) deleteIfUnused(ctx context.Context, live *found, users []client.ObjectList) error {
	// The cache may not know yet that the plans of a class were just deleted.
	for _, asked := range []struct {
		reader client.Reader
		lists  []client.ObjectList
	}{{e.Reader, users[:2]}, {e.Live, users}} {
		used, err := used(ctx, asked.reader, live, asked.lists)
		if err != nil {
			return err
		}
		if used {
			return errInUse
		}
	}
	uid, version := live.GetUID(), live.GetResourceVersion()
	object := kinds[live.kind].newObject()
	object.SetNamespace(live.GetNamespace())
	object.SetName(live.GetName())
	err := e.Client.Delete(ctx, object, client.Preconditions{UID: &uid, ResourceVersion: &version})
	switch {
	case apierrors.IsConflict(err):
		// It was written since it was looked at: at the next look.
		return errInUse
	case client.IgnoreNotFound(err) != nil:
		return fmt.Errorf("cannot delete %s %q: %w", live.kind, live.GetName(), err)
	}
	return nil
}

// usersOf are what may refer to an object: instances, bindings, and of a class plans.
func usersOf(kind Kind) []client.ObjectList {
	users := []client.ObjectList{&api.ServiceInstanceList{}, &api.ServiceBindingList{}}
	switch kind {
	case ClusterServiceClass:
		return append(users, kinds[ClusterServicePlan].newList())
	case ServiceClass:
		return append(users, kinds[ServicePlan].newList())
	case ClusterServicePlan, ServicePlan:
	}
	return users
}

// refersTo is the field by which others refer to a kind.
var refersTo = map[Kind]string{
	ClusterServiceClass: api.FieldClusterServiceClassRefName, ServiceClass: api.FieldServiceClassRefName,
	ClusterServicePlan: api.FieldClusterServicePlanRefName, ServicePlan: api.FieldServicePlanRefName,
}

// used says that anything in the lists refers to a class or plan.
func used(ctx context.Context, reader client.Reader, live *found, lists []client.ObjectList) (bool, error) {
	for _, list := range lists {
		err := reader.List(ctx, list, client.InNamespace(live.GetNamespace()), client.MatchingFields{refersTo[live.kind]: live.GetName()},
			client.Limit(1), client.UnsafeDisableDeepCopy)
		if err != nil {
			return false, fmt.Errorf("cannot list what refers to %s %q: %w", live.kind, live.GetName(), err)
		}
		if meta.LenList(list) > 0 {
			return true, nil
		}
	}
	return false, nil
}

// A Ref names a class or plan.
type Ref struct {
	Kind            Kind
	Namespace, Name string
}

// Offerings are all classes and plans that name a broker and are not another's: its
// own, and user-defined ones, in whatever namespace.
func (e *Engine) Offerings(ctx context.Context, broker Broker) ([]Ref, error) {
	shelf, err := e.shelf(ctx, &broker)
	if err != nil {
		return nil, err
	}
	var refs []Ref
	for _, live := range append(shelf.owned(&broker), shelf.userDefined(&broker)...) {
		refs = append(refs, Ref{live.kind, live.GetNamespace(), live.GetName()})
	}
	return refs, nil
}

// RefersTo is the field by which instances and bindings refer to classes or plans of a
// kind.
func RefersTo(kind Kind) string { return refersTo[kind] }
