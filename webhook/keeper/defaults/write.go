package defaults

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/webhook/keeper/controller"
)

// A writer performs actions.
type writer struct {
	controller.Environment

	writes *prometheus.CounterVec
}

// make performs an action: one write, on the condition that the object was not
// written since it was read.
func (w *writer) make(ctx context.Context, v *typeView, a action) error {
	err := w.write(ctx, v, a)
	count(w.writes, a.verb, err)
	if err != nil {
		return err
	}
	log := w.Log.WithValues("type", v.at.String(), "plan", a.plan)
	if a.repairs() {
		log.Info("default repaired", "write", string(a.verb), "why", a.why)
	} else {
		log.V(1).Info("default kept", "write", string(a.verb))
	}
	announce(w.Recorder, v, a)
	return nil
}

// repairs says whether an action repairs an incomplete state, rather than
// following a user's write.
func (a action) repairs() bool {
	return a.verb == annotatePlan || a.verb == unannotatePlan || a.verb == clearRecord || a.former != ""
}

func (w *writer) write(ctx context.Context, v *typeView, a action) error {
	switch a.verb {
	case createType:
		return w.createType(ctx, v, nil)
	case recordPlan:
		ref := &v1beta1.PlanObjectReference{Name: a.plan}
		if !v.kept.there() {
			return w.createType(ctx, v, ref)
		}
		return w.patchRecord(ctx, v, ref)
	case clearRecord:
		return w.patchRecord(ctx, v, nil)
	case removeType:
		return w.removeType(ctx, v)
	case annotatePlan:
		return w.patchAnnotation(ctx, v.plan(a.plan), "true")
	case unannotatePlan:
		return w.patchAnnotation(ctx, v.plan(a.plan), nil)
	default:
		return nil
	}
}

func (w *writer) createType(ctx context.Context, v *typeView, ref *v1beta1.PlanObjectReference) error {
	t := newTypeObject(v.at)
	t.SetLabels(map[string]string{labelManagedBy: managedByUs})
	t.GetSpec().DefaultPlanRef = ref
	if err := w.Client.Create(ctx, t.TypeObject, controller.FieldOwner); err != nil {
		return fmt.Errorf("cannot create service type %q: %w", v.at, err)
	}
	return nil
}

func (w *writer) patchRecord(ctx context.Context, v *typeView, ref *v1beta1.PlanObjectReference) error {
	patch := map[string]any{"spec": map[string]any{"defaultPlanRef": ref}}
	if err := w.patch(ctx, v.kept.copied(), patch); err != nil {
		return fmt.Errorf("cannot patch service type %q: %w", v.at, err)
	}
	return nil
}

func (w *writer) removeType(ctx context.Context, v *typeView) error {
	uid, version := v.kept.GetUID(), v.kept.GetResourceVersion()
	err := w.Client.Delete(ctx, v.kept.copied(), client.Preconditions{UID: &uid, ResourceVersion: &version})
	if err != nil {
		return fmt.Errorf("cannot delete service type %q: %w", v.at, err)
	}
	return nil
}

// patchAnnotation sets a plan's default annotation, or with nil takes it off.
func (w *writer) patchAnnotation(ctx context.Context, plan *planObject, value any) error {
	patch := map[string]any{"metadata": map[string]any{"annotations": map[string]any{v1beta1.AnnotationDefaultPlan: value}}}
	object, _ := plan.object.DeepCopyObject().(client.Object)
	if err := w.patch(ctx, object, patch); err != nil {
		return fmt.Errorf("cannot patch service plan %q: %w", client.ObjectKeyFromObject(object), err)
	}
	return nil
}

// patch sends a merge patch that conflicts if the object was written since it
// was read.
func (w *writer) patch(ctx context.Context, object client.Object, patch map[string]any) error {
	meta, _ := patch["metadata"].(map[string]any)
	if meta == nil {
		meta = map[string]any{}
		patch["metadata"] = meta
	}
	meta["resourceVersion"] = object.GetResourceVersion()
	data, err := json.Marshal(patch)
	if err != nil {
		return fmt.Errorf("cannot encode a patch: %w", err)
	}
	return w.Client.Patch(ctx, object, client.RawPatch(types.MergePatchType, data), controller.FieldOwner)
}

// isFinal says whether there is nothing left to write to: the object or its
// namespace is being deleted or gone.
func isFinal(err error) bool {
	return apierrors.IsNotFound(err) || apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause)
}
