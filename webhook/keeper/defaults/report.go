package defaults

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"github.com/defaultplan/defaultplan/webhook/catalog"

	"github.com/prometheus/client_golang/prometheus"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/webhook/keeper/controller"
)

// A reporter writes the status of types, at most about once a second each.
type reporter struct {
	controller.Environment
	viewer

	writes *prometheus.CounterVec
	// queue holds the types to reconcile; it is set before the first report.
	queue controller.Queue[workItem]

	mu sync.Mutex
	// reported says when the status of a type was last written.
	reported map[client.ObjectKey]time.Time
	// resolved is what types of the cluster last resolved to: types of the same
	// name in namespaces depend on it.
	resolved map[string]v1beta1.ServiceTypeStatus
}

// report writes the status of a type if it changed: at once if later decisions
// depend on it, and otherwise at most about once a second.
func (r *reporter) report(ctx context.Context, v *typeView, a action) error {
	o, err := r.resolve(ctx, v, a.awaiting)
	if err != nil {
		return err
	}
	confirmed := a.verb == confirmRecord || v.kept.confirmed()
	now := metav1.NewTime(r.Clock.Now()).Rfc3339Copy()
	if !v.kept.there() || v.kept.ending() {
		r.forget(v.at)
		return nil
	}
	before := *v.kept.GetStatus()
	after := o.statusFrom(before, v.kept.GetGeneration(), confirmed, now)
	if apiequality.Semantic.DeepEqual(before, after) {
		return nil
	}
	if delay := r.untilReported(v.at); delay > 0 && a.verb != confirmRecord && a.awaiting == v.kept.awaiting() {
		r.queue.AddAfter(workItem{at: v.at}, delay)
		return nil
	}
	return r.patchStatus(ctx, v, after, a)
}

// resolve is what a type resolves to: in a namespace together with the cluster's
// type of that name, and in the cluster with word to the types of namespaces.
func (r *reporter) resolve(ctx context.Context, v *typeView, awaiting bool) (resolved, error) {
	if v.at.Namespace != "" {
		cluster, err := r.view(ctx, r.Client, client.ObjectKey{Name: v.at.Name})
		if err != nil {
			return resolved{}, err
		}
		o := v.resolved(&cluster)
		o.awaiting = awaiting
		return o, nil
	}
	o := v.resolved(nil)
	o.awaiting = awaiting
	return o, r.enqueueNamespaces(ctx, v.at.Name, o.statusFrom(v1beta1.ServiceTypeStatus{}, 0, false, metav1.Time{}))
}

// patchStatus writes a status on the condition that the type was not written
// since it was read, because a confirmation is for that record only.
func (r *reporter) patchStatus(ctx context.Context, v *typeView, after v1beta1.ServiceTypeStatus, a action) error {
	data, err := statusPatch(v.kept.GetResourceVersion(), after)
	if err != nil {
		return err
	}
	err = r.Client.Status().Patch(ctx, v.kept.copied(), client.RawPatch(types.MergePatchType, data), controller.FieldOwner)
	if a.verb == confirmRecord {
		count(r.writes, confirmRecord, err)
	}
	if isFinal(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("cannot patch the status of service type %q: %w", v.at, err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.reported[v.at] = r.Clock.Now()
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
func (r *reporter) untilReported(at client.ObjectKey) time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	last, reported := r.reported[at]
	if !reported {
		return 0
	}
	return last.Add(soon).Sub(r.Clock.Now())
}

func (r *reporter) forget(at client.ObjectKey) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.reported, at)
}

// enqueueNamespaces enqueues the types of that name in namespaces if the cluster's
// type resolves to something else than before: their result depends on it, but
// not on the number of plans.
func (r *reporter) enqueueNamespaces(ctx context.Context, name string, now v1beta1.ServiceTypeStatus) error {
	now.Plans = 0
	r.mu.Lock()
	known := apiequality.Semantic.DeepEqual(r.resolved[name], now)
	r.mu.Unlock()
	if known {
		return nil
	}
	var local v1beta1.ServiceTypeList
	if err := (catalog.Scope{Reader: r.Client}).List(ctx, &local, nil); err != nil {
		return err
	}
	for i := range local.Items {
		if t := &local.Items[i]; t.Name == name {
			r.queue.AddAfter(typeOf(t.Namespace, t.Name), atOnce)
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.resolved[name] = now
	return nil
}
