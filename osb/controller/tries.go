package controller

import (
	"sync"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/osb/lifecycle"
)

// tries are the calls of this process that failed last, by UID of their object: what makes
// the next one of the same operation a second try. That status counts a failure is not
// enough, for what follows one may be a poll, a fetch, or the removal of what it left. They
// are not stored: they are for a metric.
type tries struct{ failed sync.Map }

// again says that a call which is about to be made was made before, and failed.
func (t *tries) again(o client.Object, d *lifecycle.Decision) bool {
	failed, known := t.failed.Load(o.GetUID())
	return known && failed == d.Step && d.Record.Retries > 0
}

// ended notes what came of a call. What only asks, or clears up, is no operation of a user.
func (t *tries) ended(o client.Object, step lifecycle.Step, err error) {
	switch {
	case !intends(step) || step == lifecycle.Mitigate:
	case err != nil:
		t.failed.Store(o.GetUID(), step)
	default:
		t.forget(o)
	}
}

func (t *tries) forget(o client.Object) { t.failed.Delete(o.GetUID()) }
