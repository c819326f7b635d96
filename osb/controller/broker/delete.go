package broker

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/osb/controller/indexes"
	"github.com/defaultplan/defaultplan/osb/controller/queue"
	"github.com/defaultplan/defaultplan/osb/controller/relist"
)

const (
	// instancesPause is the time between two checks for the instances of a
	// deleted broker.
	instancesPause = 15 * time.Second
	// unusedPause is the time from marking the offerings to their deletion if
	// the broker has no instances. Not every webhook needs to see the marks by
	// then: an instance that is still decided on such a plan gets a condition
	// that the plan is gone, and is never sent to the broker.
	unusedPause = time.Second
	// maxNamed is how many of them a message names.
	maxNamed = 10
)

// delete removes a broker. From the start, nothing new is provisioned at it. It
// waits while instances exist at it, because they could not be deprovisioned
// without it.
func (r *reconciler) delete(ctx context.Context, b Broker) (reconcile.Result, error) {
	r.held.drop(keyOfBroker(b.object)) // its catalog is not taken over any more
	if !slices.Contains(b.object.GetFinalizers(), v1beta1.FinalizerServiceCatalog) {
		return reconcile.Result{}, nil
	}
	of, _ := relist.BrokerOf(b.object) // restrictions do not matter any more
	marked, err := r.Engine.MarkGone(ctx, of, func(m relist.Marking) error { return r.tellMarkingGone(ctx, b, m) })
	if err != nil {
		return reconcile.Result{}, err
	}
	if err := r.probe(ctx, b); err != nil {
		return reconcile.Result{}, err
	}
	instances, err := r.instancesOf(ctx, of)
	if err != nil {
		return reconcile.Result{}, err
	}
	switch {
	case len(instances) > 0:
		return reconcile.Result{RequeueAfter: instancesPause}, r.tellWaiting(ctx, b, waitsFor(instances))
	case marked > 0:
		return reconcile.Result{RequeueAfter: unusedPause}, nil
	}
	remaining, err := r.Engine.Delete(ctx, of)
	if err != nil {
		return reconcile.Result{}, err
	}
	if remaining > 0 {
		message := fmt.Sprintf("deletion waits for %d classes and plans that bindings or instances still name: delete those", remaining)
		return reconcile.Result{RequeueAfter: markedPause}, r.tellWaiting(ctx, b, message)
	}
	switch err := r.Secrets.letGo(ctx, b, b.Status.CredentialsSecret); {
	case apierrors.IsForbidden(err):
		return reconcile.Result{RequeueAfter: instancesPause}, r.tellWaiting(ctx, b, "deletion waits for the right to let its Secret go: "+err.Error())
	case err != nil:
		return reconcile.Result{}, err
	}
	others := slices.DeleteFunc(slices.Clone(b.object.GetFinalizers()), func(f string) bool { return f == v1beta1.FinalizerServiceCatalog })
	if err := r.setFinalizers(ctx, b, others); client.IgnoreNotFound(err) != nil {
		return reconcile.Result{}, err
	}
	reason := v1beta1.PerScope(of.Namespace, reasonDeletedCluster, reasonDeletedNamespaced)
	r.event(b, corev1.EventTypeNormal, reason, actionDelete, "the broker was let go, with its classes and plans")
	return reconcile.Result{}, nil
}

// tellMarkingGone writes into status how far the marking of a deleted broker's
// classes and plans is.
func (r *reconciler) tellMarkingGone(ctx context.Context, b Broker, m relist.Marking) error {
	return r.note(ctx, b, func(after Broker) {
		a := attempt{ended: r.Clock.Now()}
		a.set(after, v1beta1.Reconciling(reasonMarking, fmt.Sprintf("the broker is being deleted: %d of its %d classes and plans are marked", m.Marked, m.Total)))
	})
}

// probe fetches the catalog of a broker that is being deleted, if a call
// requested it: a 404 is only trusted if the broker returns its catalog. The
// catalog is not relisted.
func (r *reconciler) probe(ctx context.Context, b Broker) error {
	at := client.ObjectKeyFromObject(b.object)
	if !r.isAsked(at) {
		return nil
	}
	if !queue.FromContext(ctx).Enter(at) {
		return queue.Wait(keyOfBroker(b.object).At())
	}
	r.begins(at)
	if _, err := r.Fetch(ctx, b.object, ""); err != nil {
		log.FromContext(ctx).Info("the catalog of a broker that is being deleted could not be read", "broker", keyOfBroker(b.object).String(), "why", err.Error())
	}
	return nil
}

// waitsFor names instances that a deletion waits for.
func waitsFor(instances []types.NamespacedName) string {
	names := make([]string, 0, maxNamed+1)
	for _, at := range instances[:min(len(instances), maxNamed)] {
		names = append(names, at.String())
	}
	if more := len(instances) - maxNamed; more > 0 {
		names = append(names, fmt.Sprintf("and %d more", more))
	}
	return fmt.Sprintf("deletion waits for %d instances at the broker: %s", len(instances), strings.Join(names, ", "))
}

// tellWaiting writes into status what a deletion waits for.
func (r *reconciler) tellWaiting(ctx context.Context, b Broker, message string) error {
	changed, _ := b.object.DeepCopyObject().(client.Object)
	after := brokerOf(changed)
	generation, now := b.object.GetGeneration(), metav1.NewTime(r.Clock.Now())
	for _, condition := range []v1beta1.Condition{
		v1beta1.NotReady(reasonDeletionWaits, message), v1beta1.Reconciling(reasonDeletionWaits, "the broker goes when they are gone"),
	} {
		after.Status.Conditions = v1beta1.SetCondition(after.Status.Conditions, condition, generation, now)
	}
	unset(after, v1beta1.ConditionFailed, v1beta1.ConditionStalled, v1beta1.ConditionCatalogShrank) // its catalog is not read again
	after.Status.ObservedGeneration, after.Status.ControllerName = generation, b.Spec.ControllerName
	after.Status.LastConditionState = v1beta1.LastConditionState(after.Status.Conditions)
	return r.store(ctx, b, after)
}

// instancesOf are the instances that exist at a broker, sorted: those whose class or
// plan is the broker's, user-defined ones included, and those that were sent to it.
func (r *reconciler) instancesOf(ctx context.Context, of relist.Broker) ([]types.NamespacedName, error) {
	offerings, err := r.Engine.Offerings(ctx, of)
	if err != nil {
		return nil, err
	}
	found := map[types.NamespacedName]bool{}
	failures := []error{r.addInstances(ctx, found, of.Namespace, indexes.Target, indexes.BrokerValue(of.Namespace, of.Name))}
	for _, offering := range offerings {
		failures = append(failures, r.addInstances(ctx, found, offering.Namespace, relist.RefersTo(offering.Kind), offering.Name))
	}
	all := make([]types.NamespacedName, 0, len(found))
	for at := range found {
		all = append(all, at)
	}
	slices.SortFunc(all, func(a, b types.NamespacedName) int { return strings.Compare(a.String(), b.String()) })
	return all, errors.Join(failures...)
}

func (r *reconciler) addInstances(ctx context.Context, found map[types.NamespacedName]bool, namespace, field, value string) error {
	var list v1beta1.ServiceInstanceList
	err := r.Client.List(ctx, &list, client.InNamespace(namespace), client.MatchingFields{field: value}, client.UnsafeDisableDeepCopy)
	if err != nil {
		return fmt.Errorf("cannot list instances by %q: %w", field, err)
	}
	for i := range list.Items {
		found[client.ObjectKeyFromObject(&list.Items[i])] = true
	}
	return nil
}
