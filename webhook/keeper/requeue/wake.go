package requeue

import (
	"context"
	"slices"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/resolve"
	"github.com/defaultplan/defaultplan/webhook/keeper/controller"
)

// wakesOfPlan are the keys of those who may have waited for this of a plan: that
// it comes, goes or is as it is. Without its class a plan is never chosen; the
// class's own event tells of it then.
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

// wakesOfClass are the keys of those who may have waited for this of a class:
// for the class itself, or for any of its plans, none of which could be chosen
// without it, and whose labels stand above its own.
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

// wakesOfInstance are the keys of the bindings that may have waited for this of
// their instance. One that is not decided on, or is on its way out, is nothing to
// bind to: they wait on.
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

// wake enqueues everyone who waits for what one object is, in any of the versions
// given; each once.
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

// wakeEveryone makes up for wakes that failed.
func (t *requeuer) wakeEveryone(ctx context.Context) error {
	err := t.wakeWaiting(ctx, t.queue, controller.Scope{Reader: t.options.Client}, []key{everyInstance, everyBinding})
	if err != nil && ctx.Err() == nil {
		t.notWoken(err)
	}
	return err
}

func (t *requeuer) wakeWaiting(ctx context.Context, q controller.Queue[waiter], s controller.Scope, keys []key) error {
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

// missed has everyone woken in a moment, because the cache could not be read for
// some. However many changes were missed, that is one item in the queue.
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
