package keeper_test

import (
	"context"
	"fmt"
	"strings"
	"time"

	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
)

// answer sets what the hooks do with instances from now on.
func (h *house) answer(hooks func(*v1beta1.ServiceInstance) error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.hooks = hooks
}

// answerBindings sets what the hooks do with bindings from now on.
func (h *house) answerBindings(hooks func(*v1beta1.ServiceBinding) error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.bindingHooks = hooks
}

// Patch takes a touch, and only a touch, and has the hooks run.
func (h *house) Patch(ctx context.Context, object client.Object, patch client.Patch, options ...client.PatchOption) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	data, err := patch.Data(object)
	if err != nil || string(data) != "{}" || patch.Type() != types.MergePatchType || len(options) > 0 {
		h.t.Errorf("patch %s of type %s with %d options, error %v; want an empty merge patch", data, patch.Type(), len(options), err)
	}
	h.touches = append(h.touches, touch{object: called(object), after: time.Since(bubbleStart)})
	if err := h.Get(ctx, client.ObjectKeyFromObject(object), object); err != nil {
		return err
	}
	whole, err := h.admit(object)
	if err != nil || !whole {
		return err
	}
	return h.Update(ctx, object)
}

// admit has the hooks answer, and says whether they decided.
func (h *house) admit(object client.Object) (bool, error) {
	switch o := object.(type) {
	case *v1beta1.ServiceInstance:
		err := h.hooks(o)
		return o.Spec.Decided(), err
	case *v1beta1.ServiceBinding:
		err := h.bindingHooks(o)
		return o.Spec.Decided(), err
	}
	h.t.Errorf("patch of a %T, want a ServiceInstance or ServiceBinding", object)
	return false, nil
}

// called is how a touched object is called here.
func called(object client.Object) string {
	name := client.ObjectKeyFromObject(object).String()
	if _, ok := object.(*v1beta1.ServiceBinding); ok {
		return "binding " + name
	}
	return name
}

// Status takes writes of status, and counts them.
func (h *house) Status() client.SubResourceWriter { return statusWriter{h.WithWatch.Status(), h} }

type statusWriter struct {
	client.SubResourceWriter

	house *house
}

// Patch takes a write of status.
func (w statusWriter) Patch(ctx context.Context, object client.Object, patch client.Patch, options ...client.SubResourcePatchOption) error {
	w.house.countStatus(object)
	return w.SubResourceWriter.Patch(ctx, object, patch, options...)
}

func (h *house) countStatus(object client.Object) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.statuses = append(h.statuses, statusWrite{
		kind: strings.TrimPrefix(fmt.Sprintf("%T", object), "*v1beta1."), name: object.GetName(), after: time.Since(bubbleStart),
	})
}

// written are the writes of status since forget, of one object of a kind.
func (h *house) written(kind, name string) []statusWrite {
	h.mu.Lock()
	defer h.mu.Unlock()
	var found []statusWrite
	for _, write := range h.statuses {
		if write.kind == kind && write.name == name {
			found = append(found, write)
		}
	}
	return found
}

// bubbleStart is when every bubble's time begins.
var bubbleStart = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

// Eventf records an event, as namespace/name and what kubectl shows.
func (h *house) Eventf(regarding, _ runtime.Object, eventtype, reason, action, note string, args ...any) {
	h.mu.Lock()
	defer h.mu.Unlock()
	object, err := apimeta.Accessor(regarding)
	if err != nil || action == "" {
		h.t.Errorf("event about %T with action %q: %v", regarding, action, err)
		return
	}
	h.events = append(h.events, fmt.Sprintf("%s/%s %s %s %s", object.GetNamespace(), object.GetName(), eventtype, reason, fmt.Sprintf(note, args...)))
}
