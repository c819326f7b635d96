package keeper

import (
	"context"
	"encoding/json"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
)

// keeperOwner is whose the fields are that the keeper writes.
const keeperOwner = client.FieldOwner(v1beta1.FieldOwnerKeeper)

// stubborn is after how many failures in a row an operator is told.
const stubborn = 8

// make makes a move. Each is one write that stands only if nobody wrote the object
// since it was looked at.
func (r *recorder) make(ctx context.Context, v *typeView, m move) error {
	err := r.write(ctx, v, m)
	r.written(m.action, err)
	if err != nil {
		return err
	}
	log := r.options.Log.WithValues("type", v.at.String(), "plan", m.plan)
	if m.repairs() {
		log.Info("default repaired", "write", string(m.action), "why", m.why)
	} else {
		log.V(1).Info("default kept", "write", string(m.action))
	}
	r.announce(v, m)
	return nil
}

// repairs says that a move mends what somebody left, rather than follow what
// somebody did.
func (m move) repairs() bool {
	return m.action == annotatePlan || m.action == unannotatePlan || m.action == clearRecord || m.former != ""
}

func (r *recorder) write(ctx context.Context, v *typeView, m move) error {
	switch m.action {
	case createType:
		return r.createType(ctx, v, nil)
	case recordPlan:
		ref := &v1beta1.PlanObjectReference{Name: m.plan}
		if !v.kept.there() {
			return r.createType(ctx, v, ref)
		}
		return r.patchRecord(ctx, v, ref)
	case clearRecord:
		return r.patchRecord(ctx, v, nil)
	case removeType:
		return r.removeType(ctx, v)
	case annotatePlan:
		return r.patchAnnotation(ctx, v.plan(m.plan), "true")
	case unannotatePlan:
		return r.patchAnnotation(ctx, v.plan(m.plan), nil)
	default:
		return nil
	}
}

func (r *recorder) createType(ctx context.Context, v *typeView, ref *v1beta1.PlanObjectReference) error {
	t := newTypeObject(v.at)
	t.SetLabels(map[string]string{labelManagedBy: managedByUs})
	t.spec.DefaultPlanRef = ref
	if err := r.options.Client.Create(ctx, t.Object, keeperOwner); err != nil {
		return fmt.Errorf("cannot create service type %q: %w", v.at, err)
	}
	return nil
}

func (r *recorder) patchRecord(ctx context.Context, v *typeView, ref *v1beta1.PlanObjectReference) error {
	patch := map[string]any{"spec": map[string]any{"defaultPlanRef": ref}}
	if err := r.patch(ctx, v.kept.copied().Object, patch); err != nil {
		return fmt.Errorf("cannot patch service type %q: %w", v.at, err)
	}
	return nil
}

func (r *recorder) removeType(ctx context.Context, v *typeView) error {
	uid, version := v.kept.GetUID(), v.kept.GetResourceVersion()
	err := r.options.Client.Delete(ctx, v.kept.copied().Object, client.Preconditions{UID: &uid, ResourceVersion: &version})
	if err != nil {
		return fmt.Errorf("cannot delete service type %q: %w", v.at, err)
	}
	return nil
}

// patchAnnotation sets a plan's default annotation, or with nil takes it off.
func (r *recorder) patchAnnotation(ctx context.Context, plan *planObject, value any) error {
	patch := map[string]any{"metadata": map[string]any{"annotations": map[string]any{v1beta1.AnnotationDefaultPlan: value}}}
	object, _ := plan.object.DeepCopyObject().(client.Object)
	if err := r.patch(ctx, object, patch); err != nil {
		return fmt.Errorf("cannot patch service plan %q: %w", client.ObjectKeyFromObject(object), err)
	}
	return nil
}

// patch writes a merge patch that is void if the object is not as it was read.
func (r *recorder) patch(ctx context.Context, object client.Object, patch map[string]any) error {
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
	return r.options.Client.Patch(ctx, object, client.RawPatch(types.MergePatchType, data), keeperOwner)
}

// isFinal says that there is nothing to write to any more: the object, its
// namespace, or all that is in it, is going.
func isFinal(err error) bool {
	return apierrors.IsNotFound(err) || apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause)
}

// tellFailure logs why an errand was not done. Refusals of other hooks and
// outages pass, so only one that stays is an operator's matter.
func (r *recorder) tellFailure(e errand, err error) {
	log, message := r.options.Log.WithValues("type", e.at.String()), "service type not settled; to be tried again"
	if e == learnFirstRun {
		lease := r.options.Lease.LeaseMeta
		log, message = r.options.Log.WithValues("lease", lease.Namespace+"/"+lease.Name), "first run not known; to be tried again"
	}
	if r.limiter.NumRequeues(e)%stubborn != stubborn-1 {
		log = log.V(1)
	}
	logCause(log, err, message)
}
