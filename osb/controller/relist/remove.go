package relist

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
)

// errInUse says that an object is, or may be, referred to.
var errInUse = errors.New("it is in use")

// atOnce is the number of plans that are applied, or objects that are marked, between two reports
// of progress. Fewer are not reported, unless the catalog shrank.
const atOnce = 500

// mark marks the broker's objects that the catalog no longer lists, so that
// nothing new is provisioned from them, and removes the mark from user-defined
// objects whose IDs it lists, because their broker is back.
func (r *run) mark(ctx context.Context, wanted *Objects, marking func(Marking) error) error {
	unlisted := append(r.unlisted(wanted), r.moved...)
	r.result.Removed, r.result.Moved = len(unlisted), len(r.moved)
	unmarked := slices.DeleteFunc(unlisted, func(f *found) bool { return f.removed })
	progress := r.marking(wanted, unmarked)
	for some := range slices.Chunk(unmarked, atOnce) {
		if progress.Shrank() || progress.Total > atOnce {
			if err := marking(progress); err != nil {
				return err
			}
		}
		r.parallel(len(some), func(i int) { r.setStatus(ctx, some[i], map[string]any{statusRemoved: true}) })
		progress.Marked += len(some)
	}
	r.unmarkUserDefined(ctx, wanted)
	return nil
}

// marking is what there is to mark, before anything is.
func (r *run) marking(wanted *Objects, unmarked []*found) Marking {
	m := Marking{Total: len(unmarked)}
	for _, live := range unmarked {
		if !wanted.Listed[live.externalID] {
			m.Lost++
		}
	}
	for _, live := range r.shelf.owned(r.broker) {
		if !live.removed && !live.unmanaged() {
			m.Before++
		}
	}
	return m
}

func (r *run) unmarkUserDefined(ctx context.Context, wanted *Objects) {
	for _, live := range r.shelf.userDefined(r.broker) {
		if live.removed && wanted.Listed[live.externalID] {
			r.setStatus(ctx, live, map[string]any{statusRemoved: false})
		}
	}
}

// unlisted are the broker's objects that its catalog does not list, not even in
// an invalid form.
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
// refers to, plans before classes. It returns how many stay because they are in
// use; objects with fields of other managers do not count, and are never
// deleted. It is called some time after the marks were written, so that all
// webhooks have them. Before the first deletion it calls deleting once, and
// stops if that fails.
func (e *Engine) Sweep(ctx context.Context, broker Broker, deleting func() error) (remaining, deleted int, err error) {
	shelf, err := e.shelf(ctx, &broker)
	if err != nil {
		return 0, 0, err
	}
	var marked []*found
	kept := map[string]bool{} // classes of plans that stay
	for _, live := range shelf.owned(&broker) {
		switch {
		case live.hasOthersFields():
			kept[live.class] = true
		case live.removed && !live.unmanaged() && (live.class != "" || !kept[live.GetName()]):
			marked = append(marked, live)
		}
	}
	remaining, err = e.deleteUnused(ctx, marked, usersOf, sync.OnceValue(deleting))
	return remaining, len(marked) - remaining, err
}

// MarkGone marks all that names a broker, user-defined objects too: the broker is being
// deleted. It returns how many it marked. Classes are first: with them none of their plans is
// chosen any more, and they are fewer. If they are many, it calls marking meanwhile, and
// stops if that fails.
func (e *Engine) MarkGone(ctx context.Context, broker Broker, marking func(Marking) error) (marked int, err error) {
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
	slices.SortStableFunc(left, func(a, b *found) int { return cmp.Compare(kinds[a.kind].class, kinds[b.kind].class) })
	failures := make([]error, len(left))
	for from := 0; from < len(left); from += atOnce {
		if len(left) > atOnce {
			if err := marking(Marking{Marked: from, Total: len(left)}); err != nil {
				return from, err
			}
		}
		some := left[from:min(from+atOnce, len(left))]
		e.parallel(len(some), func(i int) {
			failures[from+i] = gone(e.setStatus(ctx, some[i], map[string]any{statusRemoved: true}))
		})
	}
	return len(left), errors.Join(failures...)
}

// gone ignores errors because an object does not exist any more, or was
// recreated.
func gone(err error) error {
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
		return nil
	}
	return err
}

// Delete deletes all that a broker owns and that no instance or binding refers to,
// plans before classes. User-defined plans do not prevent the deletion of a class,
// because their broker is being deleted. It returns how many stay.
func (e *Engine) Delete(ctx context.Context, broker Broker) (remaining int, err error) {
	shelf, err := e.shelf(ctx, &broker)
	if err != nil {
		return 0, err
	}
	users := func(Kind) []client.ObjectList { return usersOf("") }
	return e.deleteUnused(ctx, shelf.owned(&broker), users, func() error { return nil })
}

// deleteUnused deletes plans, and once these are gone classes. usersOf are those of a
// kind that keep it; deleting is called before each deletion.
func (e *Engine) deleteUnused(ctx context.Context, objects []*found, usersOf func(Kind) []client.ObjectList, deleting func() error) (remaining int, err error) {
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
			err := e.deleteIfUnused(ctx, phase[i], usersOf(phase[i].kind), deleting)
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

// deleteIfUnused checks the cache first, and the API server right before the
// deletion.
func (e *Engine) deleteIfUnused(ctx context.Context, live *found, users []client.ObjectList, deleting func() error) error {
	// The cache may not have the deletion of a class's plans yet.
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
	if live.GetDeletionTimestamp() != nil {
		return errInUse // another's finalizer keeps it
	}
	if err := deleting(); err != nil {
		return err
	}
	uid, version := live.GetUID(), live.GetResourceVersion()
	object := kinds[live.kind].newObject()
	object.SetNamespace(live.GetNamespace())
	object.SetName(live.GetName())
	err := e.Client.Delete(ctx, object, client.Preconditions{UID: &uid, ResourceVersion: &version})
	switch {
	case apierrors.IsConflict(err):
		// It was written since it was read: it is handled next time.
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
