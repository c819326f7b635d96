package keeper

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/go-logr/logr"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// patience bounds one touch. It is more than the two hooks may take together.
const patience = 15 * time.Second

// process touches an object if it still waits, and sees to what comes of it.
func (t *toucher) process(ctx context.Context, w waiter) {
	object, err := t.read(ctx, w)
	if err != nil {
		t.queue.AddRateLimited(w)
		return
	}
	if !waits(object) {
		t.forget(w)
		return
	}
	if !t.wait(ctx) {
		return
	}
	after, err := t.touch(ctx, w)
	if ctx.Err() != nil {
		return
	}
	result := outcomeOf(after, err)
	t.metrics.touches.WithLabelValues(string(result)).Inc()
	log := t.options.Log.WithValues("resource", string(w.kind), "object", w.at.String(), "result", string(result))
	switch result {
	case failed:
		logCause(log.V(1), err, "touched; to be tried again")
		t.queue.AddRateLimited(w)
	case denied:
		logCause(log, err, "touched; not tried again until something changes")
		t.forget(w)
		t.tell(t.deniedEvent(ctx, object))
	case undecided:
		log.V(1).Info("touched")
		t.remainsUndecided(ctx, after)
	case decided, gone:
		log.V(1).Info("touched")
		t.forget(w)
	}
}

// touch has the hooks run over the object, and returns what they made of it.
func (t *toucher) touch(ctx context.Context, w waiter) (client.Object, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	object := w.kind.object()
	object.SetNamespace(w.at.Namespace)
	object.SetName(w.at.Name)
	err := t.options.Client.Patch(ctx, object, client.RawPatch(types.MergePatchType, []byte("{}")))
	return object, err
}

// remainsUndecided has an object touched once more; if that was it, its user is
// told.
func (t *toucher) remainsUndecided(ctx context.Context, object client.Object) {
	w := waiterOf(object)
	t.queue.Forget(w)
	if delay := t.untilSettled(w); delay > 0 {
		t.queue.AddAfter(w, delay)
		return
	}
	t.settled(w)
	t.tell(t.undecidedEvent(ctx, object))
}

func (t *toucher) forget(w waiter) {
	t.queue.Forget(w)
	t.settled(w)
}

// outcomeOf says what a touch led to.
func outcomeOf(after client.Object, err error) outcome {
	switch {
	case err == nil && decisionOn(after).Decided():
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

// isVerdict says that an error is about the object and would be the same the
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
