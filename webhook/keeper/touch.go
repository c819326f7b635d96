package keeper

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/go-logr/logr"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
)

// patience bounds one touch. It is more than the two hooks may take together.
const patience = 15 * time.Second

// process touches an instance if it still waits, and sees to what comes of it.
func (t *term) process(ctx context.Context, at client.ObjectKey) {
	instance, err := t.read(ctx, at)
	if err != nil {
		t.queue.AddRateLimited(at)
		return
	}
	if !waits(instance) {
		t.forget(at)
		return
	}
	if !t.wait(ctx) {
		return
	}
	after, err := t.touch(ctx, at)
	if ctx.Err() != nil {
		return
	}
	result := outcomeOf(after, err)
	t.metrics.touches.WithLabelValues(string(result)).Inc()
	log := t.options.Log.WithValues("instance", at.String(), "result", string(result))
	switch result {
	case failed:
		logCause(log.V(1), err, "touched; to be tried again")
		t.queue.AddRateLimited(at)
	case denied:
		logCause(log, err, "touched; not tried again until something changes")
		t.forget(at)
		t.tell(deniedEvent(instance))
	case undecided:
		log.V(1).Info("touched")
		t.remainsUndecided(at, after)
	case decided, gone:
		log.V(1).Info("touched")
		t.forget(at)
	}
}

// read gets the instance from the cache; one that is not there is one that does
// not wait. Of one that has been decided or is gone, the cache's word is final.
func (t *term) read(ctx context.Context, at client.ObjectKey) (*v1beta1.ServiceInstance, error) {
	instance := &v1beta1.ServiceInstance{}
	if err := t.options.Client.Get(ctx, at, instance); client.IgnoreNotFound(err) != nil {
		return nil, fmt.Errorf("cannot get instance %q: %w", at, err)
	}
	return instance, nil
}

// touch has the hooks run over the instance, and returns what they made of it.
func (t *term) touch(ctx context.Context, at client.ObjectKey) (*v1beta1.ServiceInstance, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	instance := &v1beta1.ServiceInstance{}
	instance.Namespace, instance.Name = at.Namespace, at.Name
	err := t.options.Client.Patch(ctx, instance, client.RawPatch(types.MergePatchType, []byte("{}")))
	return instance, err
}

// remainsUndecided has an instance touched once more; if that was it, its user
// is told.
func (t *term) remainsUndecided(at client.ObjectKey, instance *v1beta1.ServiceInstance) {
	t.queue.Forget(at)
	if delay := t.untilSettled(at); delay > 0 {
		t.queue.AddAfter(at, delay)
		return
	}
	t.settled(at)
	t.tell(undecidedEvent(instance))
}

func (t *term) forget(at client.ObjectKey) {
	t.queue.Forget(at)
	t.settled(at)
}

// outcomeOf says what a touch led to.
func outcomeOf(after *v1beta1.ServiceInstance, err error) outcome {
	switch {
	case err == nil && after.Spec.Decided():
		return decided
	case err == nil:
		return undecided
	case apierrors.IsNotFound(err):
		return gone
	case isVerdict(err):
		return denied
	}
	return failed
}

// isVerdict says that an error is about the instance and would be the same the
// next time. Everything else, whatever its kind, passes: an outage, a hook that
// cannot be reached, a conflict, too many requests, credentials being replaced.
func isVerdict(err error) bool {
	code := statusCode(err)
	switch code {
	case http.StatusUnauthorized, http.StatusRequestTimeout, http.StatusConflict, http.StatusTooManyRequests:
		return false
	}
	return code >= http.StatusBadRequest && code < http.StatusInternalServerError
}

// statusCode is the HTTP status of an answer of the API server, 0 of any other
// error.
func statusCode(err error) int {
	var status apierrors.APIStatus
	if !errors.As(err, &status) {
		return 0
	}
	return int(status.Status().Code)
}

// logCause logs why a touch did not succeed. What the API server says is left
// out but for its kind: other hooks may quote the object in it.
func logCause(log logr.Logger, err error, message string) {
	if code := statusCode(err); code != 0 {
		log.Info(message, "code", code, "reason", string(apierrors.ReasonForError(err)))
		return
	}
	log.Info(message, "cause", err.Error())
}
