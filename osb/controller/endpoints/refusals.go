package endpoints

import (
	"fmt"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/defaultplan/defaultplan/api/v1beta1"
)

// firstRefusalPause is the pause after the second refusal in a row; it doubles.
const firstRefusalPause = time.Second

// refusals remember the bindings whose Service the API server refused while it was written.
// What was written before the refusal is removed, and both are events that cause another
// reconcile at once: without a pause it would go on for ever. The zero value is empty.
type refusals struct {
	mu  sync.Mutex
	all map[types.NamespacedName]refused
}

// refused says what was refused, how often in a row, and when it may be written again.
type refused struct {
	what  string
	times int
	until time.Time
}

// what identifies what was refused: another generation or other endpoints are written at once.
func what(b *v1beta1.ServiceBinding) string {
	return fmt.Sprint(b.UID, b.Generation, b.Status.Endpoints)
}

// wait is the time until the Service of a binding may be written again.
func (r *refusals) wait(b *v1beta1.ServiceBinding, now time.Time) time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	if last := r.all[types.NamespacedName{Namespace: b.Namespace, Name: b.Name}]; last.what == what(b) {
		return max(0, last.until.Sub(now))
	}
	return 0
}

// add counts a refusal. longest bounds the pause.
func (r *refusals) add(b *v1beta1.ServiceBinding, now time.Time, longest time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.all == nil {
		r.all = map[types.NamespacedName]refused{}
	}
	at := types.NamespacedName{Namespace: b.Namespace, Name: b.Name}
	next := refused{what: what(b), until: now}
	if last := r.all[at]; last.what == next.what {
		const most = 20 // doublings
		next.times = min(last.times+1, most)
		next.until = now.Add(min(firstRefusalPause<<(next.times-1), longest))
	}
	r.all[at] = next
}

// forget drops what is remembered of a binding.
func (r *refusals) forget(at types.NamespacedName) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.all, at)
}
