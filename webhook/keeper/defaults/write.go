package defaults

import (
	"context"
	"encoding/json"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/webhook/keeper/controller"
)

// stubborn is the number of successive failures after which an error is logged
// for the operator.
const stubborn = 8

// make performs an action: one write, on the condition that the object was not
// written since it was read.
func (r *defaultRecorder) make(ctx context.Context, v *typeView, a action) error {
	err := r.write(ctx, v, a)
	r.written(a.verb, err)
	if err != nil {
		return err
	}
	log := r.options.Log.WithValues("type", v.at.String(), "plan", a.plan)
	if a.repairs() {
		log.Info("default repaired", "write", string(a.verb), "why", a.why)
	} else {
		log.V(1).Info("default kept", "write", string(a.verb))
	}
	r.announce(v, a)
	return nil
}

// repairs says whether an action repairs an incomplete state, rather than
// following a user's write.
func (a action) repairs() bool {
	return a.verb == annotatePlan || a.verb == unannotatePlan || a.verb == clearRecord || a.former != ""
}

func (r *defaultRecorder) write(ctx context.Context, v *typeView, a action) error {
	switch a.verb {
	case createType:
		return r.createType(ctx, v, nil)
	case recordPlan:
		ref := &v1beta1.PlanObjectReference{Name: a.plan}
		if !v.kept.there() {
			return r.createType(ctx, v, ref)
		}
		return r.patchRecord(ctx, v, ref)
	case clearRecord:
		return r.patchRecord(ctx, v, nil)
	case removeType:
		return r.removeType(ctx, v)
	case annotatePlan:
		return r.patchAnnotation(ctx, v.plan(a.plan), "true")
	case unannotatePlan:
		return r.patchAnnotation(ctx, v.plan(a.plan), nil)
	default:
		return nil
	}
}

func (r *defaultRecorder) createType(ctx context.Context, v *typeView, ref *v1beta1.PlanObjectReference) error {
	t := newTypeObject(v.at)
	t.SetLabels(map[string]string{labelManagedBy: managedByUs})
	t.spec.DefaultPlanRef = ref
	if err := r.options.Client.Create(ctx, t.Object, controller.FieldOwner); err != nil {
		return fmt.Errorf("cannot create service type %q: %w", v.at, err)
	}
	return nil
}

func (r *defaultRecorder) patchRecord(ctx context.Context, v *typeView, ref *v1beta1.PlanObjectReference) error {
	patch := map[string]any{"spec": map[string]any{"defaultPlanRef": ref}}
	if err := r.patch(ctx, v.kept.copied().Object, patch); err != nil {
		return fmt.Errorf("cannot patch service type %q: %w", v.at, err)
	}
	return nil
}

func (r *defaultRecorder) removeType(ctx context.Context, v *typeView) error {
	uid, version := v.kept.GetUID(), v.kept.GetResourceVersion()
	err := r.options.Client.Delete(ctx, v.kept.copied().Object, client.Preconditions{UID: &uid, ResourceVersion: &version})
	if err != nil {
		return fmt.Errorf("cannot delete service type %q: %w", v.at, err)
	}
	return nil
}

// patchAnnotation sets a plan's default annotation, or with nil takes it off.
func (r *defaultRecorder) patchAnnotation(ctx context.Context, plan *planObject, value any) error {
	patch := map[string]any{"metadata": map[string]any{"annotations": map[string]any{v1beta1.AnnotationDefaultPlan: value}}}
	object, _ := plan.object.DeepCopyObject().(client.Object)
	if err := r.patch(ctx, object, patch); err != nil {
		return fmt.Errorf("cannot patch service plan %q: %w", client.ObjectKeyFromObject(object), err)
	}
	return nil
}

// patch sends a merge patch that conflicts if the object was written since it
// was read.
func (r *defaultRecorder) patch(ctx context.Context, object client.Object, patch map[string]any) error {
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
	return r.options.Client.Patch(ctx, object, client.RawPatch(types.MergePatchType, data), controller.FieldOwner)
}

// isFinal says whether there is nothing left to write to: the object or its
// namespace is being deleted or gone.
func isFinal(err error) bool {
	return apierrors.IsNotFound(err) || apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause)
}

// tellFailure logs why a work item failed. Denials of other hooks and outages
// pass, so only a lasting failure is logged for the operator.
func (r *defaultRecorder) tellFailure(w workItem, err error) {
	log, message := r.options.Log.WithValues("type", w.at.String()), "service type not settled; to be tried again"
	if w == learnFirstRun {
		lease := r.options.Lease.LeaseMeta
		log, message = r.options.Log.WithValues("lease", lease.Namespace+"/"+lease.Name), "first run not known; to be tried again"
	}
	if r.limiter.NumRequeues(w)%stubborn != stubborn-1 {
		log = log.V(1)
	}
	controller.LogCause(log, err, message)
}
