package export

import (
	"cmp"
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/apistatus"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/catalog"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/moving"
)

// A releaser lets objects of the old side go. At each moment at most one side would remove what is
// at the broker: the new object gets that duty once the old one is gone, never before.
type releaser struct {
	old, fresh client.Client
	contents   *moving.Contents
	names      *moving.Names
	dryRun     bool
	report     *moving.Report
	// sure says that the old side is the cluster of the file, by its ID.
	sure bool
	// holders are the instances that are bound on the old side, each with a binding, by the
	// namespace that was listed.
	holders map[string]map[types.NamespacedName]string
	// blind says that bindings of all namespaces may not be listed.
	blind bool
	// leaves are the bindings that a dry run would release.
	leaves map[types.NamespacedName]bool
}

// newReleaser returns a releaser with an empty report.
func newReleaser(old, fresh client.Client, contents *moving.Contents, flags *releaseFlags) *releaser {
	return &releaser{
		old: old, fresh: fresh, contents: contents, names: &flags.names, dryRun: flags.dryRun, report: &moving.Report{DryRun: flags.dryRun},
		holders: map[string]map[types.NamespacedName]string{}, leaves: map[types.NamespacedName]bool{},
	}
}

// all lets the objects of the file go: bindings first, since an instance with bindings stays.
func (r *releaser) all(ctx context.Context) {
	for _, binding := range r.contents.Bindings {
		r.one(ctx, binding)
	}
	for _, instance := range r.contents.Instances {
		r.one(ctx, instance)
	}
}

// one lets one object go, and reports what became of it.
func (r *releaser) one(ctx context.Context, exported client.Object) {
	if ctx.Err() != nil {
		r.report.Add(exported, r.names, moving.NotReleased, "interrupted before it")
		return
	}
	// What was begun is ended: an interrupt comes between two objects.
	result, why, err := r.release(context.WithoutCancel(ctx), exported)
	if err != nil {
		result, why = moving.NotReleased, apistatus.Error(err)
	}
	r.report.Add(exported, r.names, result, why)
}

func (r *releaser) release(ctx context.Context, exported client.Object) (moving.Result, string, error) {
	fresh := empty(exported)
	why, err := r.takenOver(ctx, exported, fresh)
	if err != nil || why != "" {
		return moving.NotReleased, why, err
	}
	if why, err := r.oneCluster(ctx, fresh); err != nil || why != "" {
		return moving.NotReleased, why, err
	}
	live := empty(exported)
	err = r.old.Get(ctx, client.ObjectKeyFromObject(exported), live)
	if apierrors.IsNotFound(err) {
		return r.releasedBefore(ctx, exported, fresh)
	}
	if err != nil {
		return "", "", fmt.Errorf("cannot read it on the old side: %w", err)
	}
	if why, err := r.holdsBack(ctx, exported, live); err != nil || why != "" {
		return moving.NotReleased, why, err
	}
	if r.dryRun {
		if binding, is := live.(*v1beta1.ServiceBinding); is {
			r.leaves[client.ObjectKeyFromObject(binding)] = true
		}
		return moving.WouldRelease, "", nil
	}
	was, _ := live.DeepCopyObject().(client.Object) // which may have been annotated since the export
	if why, err := letGo(ctx, r.old, live); err != nil || why != "" {
		return moving.NotReleased, why, err
	}
	if err := r.own(ctx, was, fresh); err != nil {
		return "", "", fmt.Errorf("it was let go, and its deletion on the new side does not remove it at the broker yet; run the command again: %w", err)
	}
	return moving.Released, "", nil
}

// takenOver reads the new side's object, and says why it is not the one that takes over.
func (r *releaser) takenOver(ctx context.Context, exported, fresh client.Object) (string, error) {
	key := r.names.Place(exported)
	err := r.fresh.Get(ctx, key, fresh)
	ready, _ := v1beta1.FindCondition(moving.ConditionsOf(fresh), v1beta1.ConditionReady)
	switch {
	case apierrors.IsNotFound(err):
		return fmt.Sprintf("the new side has no %s: import it first", key), nil
	case err != nil:
		return "", fmt.Errorf("cannot read %s on the new side: %w", key, err)
	case replaced(exported, fresh):
		return fmt.Sprintf("the credentials of %s were replaced on the new side: unbind this one on the old side when nothing uses it", key), nil
	case moving.IDOf(exported) == "" || moving.IDOf(fresh) != moving.IDOf(exported):
		return fmt.Sprintf("%s of the new side has another ID at the broker", key), nil
	case !r.sameBelonging(exported, fresh):
		return fmt.Sprintf("%s of the new side has the same ID, and is of another class or instance", key), nil
	case r.contents.Shared(exported) != "":
		return r.contents.Shared(exported), nil
	case fresh.GetDeletionTimestamp() != nil:
		return fmt.Sprintf("%s of the new side is being deleted", key), nil
	case ready.Status != v1beta1.ConditionTrue || ready.ObservedGeneration != fresh.GetGeneration():
		return fmt.Sprintf("%s of the new side is not Ready: wait, or see what it says there", key), nil
	}
	return "", nil
}

// replaced says that a binding was taken over, and has other credentials since: the old side alone
// has the former ones.
func replaced(exported, fresh client.Object) bool {
	taken, is := fresh.(*v1beta1.ServiceBinding)
	return is && taken.Spec.ExternalID == moving.IDOf(exported) && moving.IDOf(taken) != taken.Spec.ExternalID
}

// sameBelonging says that an instance is of the same class on both sides, as far as they say so, and a
// binding of the same instance. The plan may have been changed on the new side.
func (r *releaser) sameBelonging(exported, fresh client.Object) bool {
	if binding, is := exported.(*v1beta1.ServiceBinding); is {
		taken, _ := fresh.(*v1beta1.ServiceBinding)
		return taken.InstanceKey() == r.names.Instance(binding.InstanceKey())
	}
	instance, _ := exported.(*v1beta1.ServiceInstance)
	taken, _ := fresh.(*v1beta1.ServiceInstance)
	was, has := r.contents.ClassID(instance), taken.Status.ExternalProperties
	return was == "" || has == nil || has.ClassExternalID == "" || has.ClassExternalID == was
}

// oneCluster says that both sides are one cluster: it has the very object that takes over. What
// it does not have under the old name was then not released before, and is still elsewhere.
func (r *releaser) oneCluster(ctx context.Context, fresh client.Object) (string, error) {
	here := empty(fresh)
	err := r.old.Get(ctx, client.ObjectKeyFromObject(fresh), here)
	if apierrors.IsNotFound(err) || apierrors.IsForbidden(err) { // who reads it there may read it here
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("cannot see whether the new side is the old one: %w", err)
	}
	if here.GetUID() == fresh.GetUID() {
		return "the new side is the old one: --to-kubeconfig leads to the current cluster", nil
	}
	return "", nil
}

// holdsBack is why the old side's object is not let go.
func (r *releaser) holdsBack(ctx context.Context, exported, live client.Object) (string, error) {
	switch {
	case live.GetUID() != exported.GetUID() || moving.IDOf(live) != moving.IDOf(exported):
		return "it is another object than the one that was exported: export again", nil
	case live.GetDeletionTimestamp() != nil && live.GetAnnotations()[v1beta1.AnnotationAbandon] != "true":
		return "it is being deleted on the old side, by someone else: decide there whether its broker is to remove it", nil
	case live.GetDeletionTimestamp() == nil && live.GetGeneration() != exported.GetGeneration():
		return "its spec changed since the export: export and import again", nil
	case live.GetDeletionTimestamp() == nil && live.GetAnnotations()[v1beta1.AnnotationPreventDeletion] == "true":
		return "the annotation " + v1beta1.AnnotationPreventDeletion + " protects it on the old side: remove it there first; the new side has its own", nil
	case live.GetDeletionTimestamp() == nil && moving.Obstacle(live) != "":
		return moving.Obstacle(live), nil
	}
	if instance, is := live.(*v1beta1.ServiceInstance); is {
		return r.bound(ctx, instance)
	}
	return "", nil
}

// bound names a binding of the old side that the instance still has. One of another namespace may be from
// when it was shared, and is looked for unless the user may list its own namespace only.
func (r *releaser) bound(ctx context.Context, instance *v1beta1.ServiceInstance) (string, error) {
	where := metav1.NamespaceAll
	if r.blind && instance.Spec.Sharing == nil {
		where = instance.Namespace
		r.report.Add(instance, r.names, moving.Note, "it cannot be seen whether bindings of other namespaces use it: there is no right to list them")
	}
	holders, err := r.holdersIn(ctx, where)
	if apierrors.IsForbidden(err) && instance.Spec.Sharing == nil && !r.blind {
		r.blind = true
		return r.bound(ctx, instance)
	}
	every := types.NamespacedName{Namespace: instance.Namespace}
	if binding := cmp.Or(holders[client.ObjectKeyFromObject(instance)], holders[every]); binding != "" {
		return fmt.Sprintf("binding %s still uses it on the old side", binding), nil
	}
	return "", err
}

// heldUnread is the instance of a binding that cannot be read; where not even that can be, it stands for
// each instance of its namespace, and has no name.
func heldUnread(binding *unstructured.Unstructured) types.NamespacedName {
	name, _, _ := unstructured.NestedString(binding.Object, "spec", "instanceRef", "name")
	namespace, _, _ := unstructured.NestedString(binding.Object, "spec", "instanceRef", "namespace")
	if name == "" {
		return types.NamespacedName{Namespace: binding.GetNamespace()}
	}
	return types.NamespacedName{Namespace: cmp.Or(namespace, binding.GetNamespace()), Name: name}
}

// holdersIn are the instances that bindings of a place use, each with a binding. A place is listed once:
// the bindings of the file are gone by then.
func (r *releaser) holdersIn(ctx context.Context, where string) (map[types.NamespacedName]string, error) {
	if r.holders[where] != nil {
		return r.holders[where], nil
	}
	holders := map[types.NamespacedName]string{}
	of := catalog.Listed{List: &v1beta1.ServiceBindingList{}, Object: &v1beta1.ServiceBinding{}}
	err := catalog.Readable(ctx, r.old, of, func(object client.Object) error {
		if binding, ok := object.(*v1beta1.ServiceBinding); ok && !binding.Dedicated() && binding.Spec.InstanceRef.Name != "" && !r.leaves[client.ObjectKeyFromObject(binding)] {
			holders[binding.InstanceKey()] = binding.Namespace + "/" + binding.Name
		}
		return nil
	}, func(binding *unstructured.Unstructured) {
		holders[heldUnread(binding)] = binding.GetNamespace() + "/" + binding.GetName()
	}, client.InNamespace(where))
	if err != nil {
		return nil, err
	}
	r.holders[where] = holders
	return holders, nil
}

const fieldOwner = client.FieldOwner("svcat")

// empty is an empty object of the kind of another.
func empty(like client.Object) client.Object {
	if _, is := like.(*v1beta1.ServiceBinding); is {
		return &v1beta1.ServiceBinding{}
	}
	return &v1beta1.ServiceInstance{}
}
