package defaults

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/defaultplan/defaultplan/webhook/catalog"

	apiequality "k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/webhook/keeper/controller"
)

// report writes the status of a type if it changed: at once if later decisions
// depend on it, and otherwise at most about once a second.
func (r *defaultRecorder) report(ctx context.Context, v *typeView, a action) error {
	cluster, err := r.above(ctx, v)
	if err != nil {
		return err
	}
	o := v.resolved(cluster)
	o.awaiting = a.awaiting
	confirmed := a.verb == confirmRecord || v.kept.confirmed()
	now := metav1.NewTime(r.options.Clock.Now()).Rfc3339Copy()
	if v.at.Namespace == "" {
		if err := r.tellNamespaces(ctx, v, o.statusFrom(v1beta1.ServiceTypeStatus{}, 0, false, metav1.Time{})); err != nil {
			return err
		}
	}
	if !v.kept.there() || v.kept.ending() {
		r.forget(v.at)
		return nil
	}
	before := *v.kept.status
	after := o.statusFrom(before, v.kept.GetGeneration(), confirmed, now)
	if apiequality.Semantic.DeepEqual(before, after) {
		return nil
	}
	if delay := r.untilReported(v.at); delay > 0 && a.verb != confirmRecord && a.awaiting == v.kept.awaiting() {
		r.enqueue(workItem{at: v.at}, delay)
		return nil
	}
	return r.patchStatus(ctx, v, after, a)
}

// above is the cluster's view of a namespace's type, nil for the cluster's own.
func (r *defaultRecorder) above(ctx context.Context, v *typeView) (*typeView, error) {
	if v.at.Namespace == "" {
		return nil, nil
	}
	cluster, err := r.look(ctx, r.options.Client, client.ObjectKey{Name: v.at.Name})
	return &cluster, err
}

// patchStatus writes a status on the condition that the type was not written
// since it was read, because a confirmation is for that record only.
func (r *defaultRecorder) patchStatus(ctx context.Context, v *typeView, after v1beta1.ServiceTypeStatus, a action) error {
	data, err := statusPatch(v.kept.GetResourceVersion(), after)
	if err != nil {
		return err
	}
	err = r.options.Client.Status().Patch(ctx, v.kept.copied().Object, client.RawPatch(types.MergePatchType, data), controller.FieldOwner)
	if a.verb == confirmRecord {
		r.written(confirmRecord, err)
	}
	if isFinal(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("cannot patch the status of service type %q: %w", v.at, err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.reported[v.at] = r.options.Clock.Now()
	return nil
}

// statusPatch is a merge patch to the whole status. A computed difference would
// omit what is zero before and after, and kubectl's columns would be empty
// instead of 0 and false.
func statusPatch(version string, status v1beta1.ServiceTypeStatus) ([]byte, error) {
	// Fields that are omitted when empty must be removed explicitly.
	whole := map[string]any{"confirmed": nil, "defaultPlan": nil, "suggestedPlan": nil}
	data, err := json.Marshal(status)
	if err == nil {
		err = json.Unmarshal(data, &whole)
	}
	if err == nil {
		data, err = json.Marshal(map[string]any{"metadata": map[string]any{"resourceVersion": version}, "status": whole})
	}
	if err != nil {
		return nil, fmt.Errorf("cannot encode a status: %w", err)
	}
	return data, nil
}

// untilReported is how long the next status of a type is to wait.
func (r *defaultRecorder) untilReported(at client.ObjectKey) time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	last, reported := r.reported[at]
	if !reported {
		return 0
	}
	return last.Add(soon).Sub(r.options.Clock.Now())
}

func (r *defaultRecorder) forget(at client.ObjectKey) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.reported, at)
}

// tellNamespaces enqueues the types of that name in namespaces if the cluster's
// type resolves to something else than before: their result depends on it, but
// not on the number of plans.
func (r *defaultRecorder) tellNamespaces(ctx context.Context, v *typeView, now v1beta1.ServiceTypeStatus) error {
	now.Plans = 0
	r.mu.Lock()
	known := apiequality.Semantic.DeepEqual(r.resolved[v.at.Name], now)
	r.mu.Unlock()
	if known {
		return nil
	}
	err := eachLocalType(ctx, catalog.Scope{Reader: r.options.Client}, func(t typeObject) {
		if t.GetName() == v.at.Name {
			r.enqueue(typeOf(t.GetNamespace(), t.GetName()), atOnce)
		}
	})
	if err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.resolved[v.at.Name] = now
	return nil
}
