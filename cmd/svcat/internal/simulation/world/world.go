package world

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/osb/controller/indexes"
	"github.com/defaultplan/defaultplan/webhook/keeper"
	"github.com/defaultplan/defaultplan/webhook/offline"
	"github.com/defaultplan/defaultplan/webhook/offline/apiclient"
	"github.com/defaultplan/defaultplan/webhook/options"
)

// A Key names an object.
type Key struct {
	Kind            string
	Namespace, Name string
}

// A Change is what became of an object: Before is nil where it is new, and After where it
// is gone.
type Change struct {
	Key

	Before, After client.Object
}

// A World is a cluster with its controllers. It is not for use from two goroutines at once.
type World struct {
	*offline.Cluster

	options *options.Options
	driver  driver
	// person and controller write as a user with all rights, and as the controller.
	person, controller *apiclient.Client
	objects            int
	changes            map[Key]*Change
	order              []Key
	// brokers is what brokers do.
	brokers brokers
	notes   []string
	unknown []string
}

// New is a world on a cluster, which it writes to from then on. It begins a minute after the
// last object was created.
func New(cluster *offline.Cluster, of *options.Options) (*World, error) {
	newest, objects := cluster.Newest()
	w := &World{Cluster: cluster, options: of, objects: objects, changes: map[Key]*Change{}}
	w.driver.clock = clocktesting.NewFakeClock(newest.Add(time.Minute))
	as := func(options apiclient.Options) *apiclient.Client {
		options.Clock, options.Scheme = w.driver.clock, cluster.Scheme()
		return apiclient.New(cluster, options)
	}
	w.person = as(apiclient.Options{User: offline.Admin(), Manager: "kubectl-client-side-apply", Reader: cluster.Reader()})
	w.controller = as(apiclient.Options{User: offline.Controller(), Manager: "controller", Reader: cluster.Reader()})
	w.brokers.client, w.brokers.cache, w.brokers.writes = w.controller, cluster.Cache(), func() int { return w.driver.writes }
	keeping := as(apiclient.Options{User: offline.Keeper(), Manager: "webhook", Reader: cluster.Cache()})
	var err error
	if w.driver.controls, err = keepers(keeping, cluster.Reader(), w.driver.clock, of); err != nil {
		return nil, fmt.Errorf("cannot run the keeper: %w", err)
	}
	cluster.Watch(w.wrote)
	return w, nil
}

// Index adds to a cluster the indexes that the keeper and the controller read by.
func Index(ctx context.Context, cluster *offline.Cluster) error {
	if err := cluster.Index(ctx, keeper.AddIndexes); err != nil {
		return err //nolint:wrapcheck // it names the index
	}
	return cluster.Index(ctx, indexes.Add) //nolint:wrapcheck // it names the index
}

func (w *World) wrote(before, after client.Object) {
	one := written{before, after}
	w.driver.write(one)
	kind, err := apiutil.GVKForObject(one.either(), w.Scheme())
	if err != nil {
		return
	}
	at := Key{kind.Kind, one.either().GetNamespace(), one.either().GetName()}
	known := w.changes[at]
	if known == nil {
		known = &Change{Key: at, Before: before}
		w.changes[at] = known
		w.order = append(w.order, at)
	}
	if at.Kind == kindInstance || at.Kind == kindBinding {
		w.brokers.pending.add(at)
	}
	known.After = after
}

// Changes are what was written since the start, in that order.
func (w *World) Changes() []Change {
	all := make([]Change, 0, len(w.order))
	for _, at := range w.order {
		if one := w.changes[at]; one.Before != nil || one.After != nil {
			all = append(all, *one)
		}
	}
	return all
}

// Notes are what to know about what was done, and what the controllers could not do.
func (w *World) Notes() []string {
	notes := w.notes
	for _, err := range w.Idle() {
		notes = append(notes, "a policy has no effect: "+err.Error())
	}
	for _, err := range w.driver.failures() {
		notes = append(notes, "the keeper tries again without end: "+err.Error())
	}
	return notes
}

func (w *World) notef(format string, args ...any) {
	w.notes = append(w.notes, fmt.Sprintf(format, args...))
}

// NotKnown is what a cluster may do otherwise than was done.
func (w *World) NotKnown() []string {
	if !w.brokers.answered {
		return w.unknown
	}
	return append(slices.Clone(w.unknown), "whether brokers refuse what they are asked: each is taken to do it")
}

func (w *World) unknownf(format string, args ...any) {
	w.unknown = append(w.unknown, fmt.Sprintf(format, args...))
}

// settle has the controllers do all that follows.
func (w *World) settle(ctx context.Context) error { return w.driver.settle(ctx, w.objects) }

// mostAnswers bounds how often what brokers did lets more be asked of them, such as a slot that
// becomes free.
const mostAnswers = 100

// Answer has brokers do what the controller asks of them because of what was written since the
// start, as if none refused: what has a plan and its slots is provisioned, updated or bound, and
// what is deleted and not in use goes. What stood still in the cluster for another reason than a
// slot stays as it is.
func (w *World) Answer(ctx context.Context) error {
	for range mostAnswers {
		some, err := w.brokers.answer(ctx)
		if err != nil || !some {
			return err
		}
		if err := w.leaveAll(ctx); err != nil {
			return err
		}
		if err := w.settle(ctx); err != nil {
			return err
		}
	}
	w.unknownf("what brokers are asked after %d rounds of answers, each of which lets more be asked", mostAnswers)
	return nil
}

// leaveAll ends the deletions of brokers that have no instance any more.
func (w *World) leaveAll(ctx context.Context) error {
	for _, at := range slices.Clone(w.order) {
		if at.Kind != v1beta1.ScopedKind(at.Namespace, "ServiceBroker") {
			continue
		}
		if err := w.leave(ctx, At(at.Namespace, at.Name)); err != nil {
			return err
		}
	}
	return nil
}

// Apply applies a manifest as kubectl apply does. A denial is a *apierrors.StatusError.
func (w *World) Apply(ctx context.Context, manifest *unstructured.Unstructured) error {
	if manifest.GroupVersionKind() == namespaceKind {
		if err := w.Load(manifest); err != nil { //nolint:contextcheck // it waits for nothing
			return err //nolint:wrapcheck // it names the object
		}
		return w.settle(ctx)
	}
	if err := w.person.ApplyManifest(ctx, manifest); err != nil {
		return err //nolint:wrapcheck // it is the API server's, or names the object
	}
	return w.settle(ctx)
}

var namespaceKind = schema.GroupVersionKind{Version: "v1", Kind: "Namespace"}

// Delete deletes an object as kubectl delete does. What has finalizers of a controller goes
// when that has done its part, and stays meanwhile.
func (w *World) Delete(ctx context.Context, object client.Object) error {
	if err := w.person.Delete(ctx, object); err != nil {
		return err //nolint:wrapcheck // it is the API server's
	}
	if err := w.settle(ctx); err != nil {
		return err
	}
	if kind := object.GetObjectKind().GroupVersionKind().Kind; kind == v1beta1.ScopedKind(object.GetNamespace(), "ServiceBroker") {
		return w.leave(ctx, client.ObjectKeyFromObject(object))
	}
	return nil
}

// Denied is the API server's denial of a change, nil for another error.
func Denied(err error) *apierrors.StatusError {
	denied, _ := errors.AsType[*apierrors.StatusError](err)
	return denied
}

// At is where an object of a name is.
func At(namespace, name string) client.ObjectKey {
	return client.ObjectKey{Namespace: namespace, Name: name}
}
