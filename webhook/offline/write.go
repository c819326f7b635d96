package offline

import (
	"context"
	"fmt"

	authenticationv1 "k8s.io/api/authentication/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	definitions "github.com/defaultplan/defaultplan/deploy/schema"
)

// A Request is a write as a client sends it.
type Request struct {
	// Object is the whole object as it is to be.
	Object *unstructured.Unstructured
	User   authenticationv1.UserInfo
	// At is when an object is created, or its deletion begins; zero is no time, and the
	// beginning of 1970 for a deletion.
	At metav1.Time
	// Tracked says that the object's managedFields are part of the write; otherwise they
	// are left out.
	Tracked bool
	// Status says that the write is to the status alone: no webhook is asked about it.
	Status bool
	// DryRun says that nothing is stored.
	DryRun bool
}

func (r *Request) write() *write {
	return &write{object: r.Object.DeepCopy(), user: r.User, at: r.At, tracked: r.Tracked, status: r.Status, dry: r.DryRun}
}

// Create creates an object.
func (c *Cluster) Create(ctx context.Context, request Request) (Result, error) {
	w := request.write()
	if err := c.find(w); err != nil {
		return Result{}, err
	}
	if w.old != nil {
		return w.refused(apierrors.NewAlreadyExists(w.resource(), w.object.GetName())), nil
	}
	return c.write(quiet(ctx), w)
}

// Update replaces an object. One whose resourceVersion or UID is not the stored one's
// conflicts; one without them does not.
func (c *Cluster) Update(ctx context.Context, request Request) (Result, error) {
	w := request.write()
	if err := c.find(w); err != nil {
		return Result{}, err
	}
	if w.old == nil {
		return w.refused(apierrors.NewNotFound(w.resource(), w.object.GetName())), nil
	}
	if conflict := w.conflict(); conflict != nil {
		return w.refused(conflict), nil
	}
	return c.write(quiet(ctx), w)
}

// Delete deletes an object: with finalizers, it is marked as being deleted. Of the request's
// object only kind, name, resourceVersion and UID matter.
func (c *Cluster) Delete(ctx context.Context, request Request) (Result, error) {
	w := request.write()
	if err := c.find(w); err != nil {
		return Result{}, err
	}
	if w.old == nil {
		return w.refused(apierrors.NewNotFound(w.resource(), w.object.GetName())), nil
	}
	if conflict := w.conflict(); conflict != nil {
		return w.refused(conflict), nil
	}
	if w.object = nil; w.at.IsZero() {
		w.at = metav1.Unix(0, 0)
	}
	denied, err := refuseDeletion(ctx, w, c.store)
	if err != nil || denied != nil {
		return Result{Object: w.old, Denied: denied}, err
	}
	gone := Result{Object: w.old}
	switch {
	case w.dry || w.old.GetDeletionTimestamp() != nil && len(w.old.GetFinalizers()) > 0:
		return gone, nil
	case len(w.old.GetFinalizers()) == 0:
		c.remove(w.kind.GroupVersionKind, w.old)
		return gone, nil
	}
	gone.Object = w.old.DeepCopy()
	gone.Object.SetDeletionTimestamp(&w.at)
	gone.Object.SetDeletionGracePeriodSeconds(new(int64))
	gone.Object.SetGeneration(w.old.GetGeneration() + 1)
	return gone, c.keep(quiet(ctx), gone.Object)
}

// Stored is a kind, and what is stored of it under a name: nil if there is nothing. The
// object is the caller's.
func (c *Cluster) Stored(of schema.GroupVersionKind, at client.ObjectKey) (*definitions.Kind, *unstructured.Unstructured, error) {
	named := &unstructured.Unstructured{Object: map[string]any{}}
	named.SetGroupVersionKind(of)
	kind, err := kindOf(named)
	if err != nil {
		return nil, nil, err
	}
	return kind, c.store.get(of, at), nil
}

// find completes a write by the kind, and by what is stored.
func (c *Cluster) find(w *write) error {
	kind, err := kindOf(w.object)
	if err != nil {
		return err
	}
	w.kind = kind
	if w.object.GetName() != "" {
		w.old = c.store.get(kind.GroupVersionKind, keyOf(kind, w.object))
	}
	return nil
}

// write handles a write as the API server does. It is stored if nothing denies
// it and it changes something.
func (c *Cluster) write(ctx context.Context, w *write) (Result, error) {
	sent := w.object.DeepCopy()
	if w.old == nil && w.object.GetName() == "" {
		c.generated++
		w.nth = c.generated
	}
	if err := c.admit(ctx, w); err != nil {
		return Result{}, fmt.Errorf("cannot admit %s %q: %w", w.kind.Kind, sent.GetName(), err)
	}
	if w.result.Denied != nil {
		w.result.Object = sent
		return w.result, nil //nolint:nilerr // a denial is a result, not a failure
	}
	// What is read is what is stored with the schema's defaults.
	w.kind.Default(w.object.Object)
	w.result.Object = w.object
	switch {
	case w.dry, w.old != nil && equality.Semantic.DeepEqual(w.old.Object, w.object.Object):
		return w.result, nil
	case w.object.GetDeletionTimestamp() != nil && len(w.object.GetFinalizers()) == 0:
		c.remove(w.kind.GroupVersionKind, w.object)
		return w.result, nil
	}
	return w.result, c.keep(ctx, w.object)
}

// admit takes a write step by step, until one denies it.
func (c *Cluster) admit(ctx context.Context, w *write) error {
	steps := []func(context.Context, *write) error{decode, c.mutate, c.prepare, c.validate}
	if w.status {
		steps = []func(context.Context, *write) error{decode, c.prepare}
	}
	for _, step := range steps {
		if err := step(ctx, w); err != nil || w.result.Denied != nil {
			return err
		}
	}
	return nil
}

// mutate asks the mutating phase, and does what it answers.
func (c *Cluster) mutate(ctx context.Context, w *write) error {
	answer, err := c.hooks.call(ctx, c.hooks.mutating[w.kind.Resource], w)
	if err != nil || answer == nil || w.result.Denied != nil || len(answer.Patch) == 0 {
		return err
	}
	return w.patch(answer.Patch)
}

// prepare completes the object as it is stored, and validates it by its CRD.
func (c *Cluster) prepare(ctx context.Context, w *write) error {
	switch {
	case w.old == nil:
		w.prepareCreate()
	case w.status:
		w.prepareStatus()
	default:
		w.prepareUpdate()
	}
	if errs := c.validated.errors(ctx, w); len(errs) > 0 {
		w.result.Denied = apierrors.NewInvalid(w.kind.GroupKind(), w.object.GetName(), errs)
	}
	return nil
}

// validate asks the validating phase.
func (c *Cluster) validate(ctx context.Context, w *write) error {
	_, err := c.hooks.call(ctx, c.hooks.validating[w.kind.Resource], w)
	return err
}
