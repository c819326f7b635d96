package requeue

import (
	"context"
	"slices"

	"github.com/defaultplan/defaultplan/webhook/catalog"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/resolve"
	"github.com/defaultplan/defaultplan/webhook/keeper/controller"
)

// wakesOfPlan are the keys of what may have waited for a plan, or for its
// change or deletion. Without its class a plan is never chosen, so the class's
// own event is enough then.
func wakesOfPlan(plan *resolve.PlanEntry, classes []resolve.ClassEntry) []key {
	keys := []key{anyPlan}
	if plan.Type != "" {
		keys = append(keys, typeKey(plan.Type))
	}
	for i := range classes {
		keys = append(keys, namesOf(&classes[i])...)
		if plan.Type == "" && classes[i].Type != "" {
			keys = append(keys, typeKey(classes[i].Type))
		}
	}
	return distinct(keys)
}

// wakesOfClass are the keys of what may have waited for a class, or for any of
// its plans: these cannot be chosen without it, and their labels override its
// own.
func wakesOfClass(class *resolve.ClassEntry, plans []resolve.PlanEntry) []key {
	keys := append([]key{anyPlan}, namesOf(class)...)
	if class.Type != "" {
		keys = append(keys, typeKey(class.Type))
	}
	for i := range plans {
		if plans[i].Type != "" {
			keys = append(keys, typeKey(plans[i].Type))
		}
	}
	return distinct(keys)
}

// wakesOfRecord are the keys of the objects that may have waited for a type's default:
// those that name the type, and those that name only a class in which plans are of
// it, because the record says which of them is the class's default.
func wakesOfRecord(record resolve.Record, classes []resolve.ClassEntry) []key {
	keys := []key{typeKey(record.Type)}
	for i := range classes {
		keys = append(keys, namesOf(&classes[i])...)
	}
	return distinct(keys)
}

// wakesOfInstance are the keys of the bindings that may have waited for their
// instance. While it is undecided or being deleted, they keep waiting.
func wakesOfInstance(at client.ObjectKey, instance *controller.InstanceView) []key {
	if instance.Deleting || !instance.Decision.Decided() {
		return nil
	}
	return []key{instanceKey(at)}
}

// namesOf are the keys of a class: each name that an instance can call it by.
func namesOf(class *resolve.ClassEntry) []key {
	namespaced := class.Namespace != ""
	keys := []key{classKey(namespaced, resolve.ByName, class.Name)}
	if class.ExternalName != "" {
		keys = append(keys, classKey(namespaced, resolve.ByExternalName, class.ExternalName))
	}
	if class.ExternalID != "" {
		keys = append(keys, classKey(namespaced, resolve.ByExternalID, class.ExternalID))
	}
	return keys
}

func distinct(keys []key) []key {
	slices.Sort(keys)
	return slices.Compact(keys)
}

// wake enqueues each object that waits for any of the given versions of one
// object, once.
func (t *requeuer) wake(ctx context.Context, q controller.Queue[waiter], versions ...client.Object) {
	s := scopeOf(t.options.Client, versions[0])
	var keys []key
	for _, object := range versions {
		found, err := wakesOf(ctx, s, object)
		if err != nil {
			t.missed(ctx, q, err)
			return
		}
		keys = append(keys, found...)
	}
	if err := t.wakeWaiting(ctx, q, s, keys); err != nil {
		t.missed(ctx, q, err)
	}
}

// wakeEveryone enqueues all waiting objects after wakes that failed.
func (t *requeuer) wakeEveryone(ctx context.Context) error {
	err := t.wakeWaiting(ctx, t.queue, catalog.Scope{Reader: t.options.Client}, []key{everyInstance, everyBinding})
	if err != nil && ctx.Err() == nil {
		t.notWoken(err)
	}
	return err
}

func (t *requeuer) wakeWaiting(ctx context.Context, q controller.Queue[waiter], s catalog.Scope, keys []key) error {
	woken := map[waiter]bool{}
	for _, k := range distinct(keys) {
		waiting, err := waitingFor(ctx, s, k)
		if err != nil {
			return err
		}
		for _, w := range waiting {
			if !woken[w] {
				woken[w] = true
				t.enqueue(q, w)
			}
		}
	}
	return nil
}

// missed enqueues all waiting objects shortly, because a read of the cache
// failed. However many changes were missed, that is one item in the queue.
func (t *requeuer) missed(ctx context.Context, q controller.Queue[waiter], err error) {
	if ctx.Err() != nil {
		return
	}
	t.notWoken(err)
	q.AddRateLimited(everyone)
}

func (t *requeuer) notWoken(err error) {
	t.options.Log.Error(err, "some who wait were not woken: all are, as soon as the cache can be read")
}
