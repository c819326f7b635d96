package controller

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// dues are when operations are to be polled next. They are not stored: a process that
// starts anew polls at once. Whatever else brings a pass does not bring a poll before
// its time.
type dues struct {
	mutex sync.Mutex
	at    map[types.UID]time.Time
}

func newDues() *dues { return &dues{at: map[types.UID]time.Time{}} }

func (d *dues) set(o client.Object, at time.Time) {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	d.at[o.GetUID()] = at
}

func (d *dues) forget(o client.Object) {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	delete(d.at, o.GetUID())
}

// wait is the time until the next poll is due; one that is due is forgotten.
func (d *dues) wait(o client.Object, now time.Time) time.Duration {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	wait := d.at[o.GetUID()].Sub(now)
	if wait <= 0 {
		delete(d.at, o.GetUID())
	}
	return wait
}
