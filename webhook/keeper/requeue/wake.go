package requeue

import (
	"context"
	"slices"

	"github.com/defaultplan/defaultplan/webhook/catalog"

	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
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
	namespaced := class.Namespaced()
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

// A wake is the keys of what waits in a scope.
type wake struct {
	in   catalog.Scope
	keys []key
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
	byCosts, err := t.wakesByCosts(ctx, versions)
	if err == nil {
		err = t.wakeWaiting(ctx, q, append(byCosts, wake{s, keys})...)
	}
	if err != nil {
		t.missed(ctx, q, err)
	}
}

// wakesByCosts are for what waits for a copy of a plan of the cluster whose costs changed: policies
// take the costs of a copy from it.
func (t *requeuer) wakesByCosts(ctx context.Context, versions []client.Object) ([]wake, error) {
	original := originalOf(versions)
	if original == nil {
		return nil, nil
	}
	copies, err := catalog.Scope{Reader: t.options.Client}.Copies(ctx, original)
	if err != nil {
		return nil, err
	}
	// A namespace may have many copies, for which the same objects wait.
	byNamespace := map[string][]key{}
	for i := range copies {
		namespace := copies[i].Namespace
		keys, err := wakesOfOffering(ctx, catalog.Scope{Reader: t.options.Client, Namespace: namespace}, copies[i])
		if err != nil {
			return nil, err
		}
		byNamespace[namespace] = distinct(append(byNamespace[namespace], keys...))
	}
	var wakes []wake
	for namespace, keys := range byNamespace {
		wakes = append(wakes, wake{catalog.Scope{Reader: t.options.Client, Namespace: namespace}, keys})
	}
	return wakes, nil
}

// originalOf is the plan of the cluster that these are versions of, if it came, went, or costs
// something else now.
func originalOf(versions []client.Object) *resolve.PlanEntry {
	plan, is := versions[len(versions)-1].(*v1beta1.ClusterServicePlan)
	if !is {
		return nil
	}
	now := resolve.PlanFrom(plan)
	if now.Broker.Name == "" || now.ExternalID == "" {
		return nil // no plan is a copy of it
	}
	if before, is := versions[0].(*v1beta1.ClusterServicePlan); is && len(versions) > 1 && before.UID == plan.UID {
		if was := resolve.PlanFrom(before); apiequality.Semantic.DeepEqual(was.Costs, now.Costs) {
			return nil
		}
	}
	return &now
}

// wakeEveryone enqueues all waiting objects after wakes that failed.
func (t *requeuer) wakeEveryone(ctx context.Context) error {
	err := t.wakeWaiting(ctx, t.queue, wake{catalog.Scope{Reader: t.options.Client}, []key{everyInstance, everyBinding}})
	if err != nil && ctx.Err() == nil {
		t.notWoken(err)
	}
	return err
}

func (t *requeuer) wakeWaiting(ctx context.Context, q controller.Queue[waiter], wakes ...wake) error {
	woken := map[waiter]bool{}
	for _, one := range wakes {
		for _, k := range distinct(one.keys) {
			waiting, err := waitingFor(ctx, one.in, k)
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
