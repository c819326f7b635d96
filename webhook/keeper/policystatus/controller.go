package policystatus

import (
	"context"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/webhook/keeper/controller"
)

// reportPause is the minimum time between two rounds.
const reportPause = time.Second

// A reconciler writes the status of policies: what each selects now. Only
// people read it, so it may be a moment behind, and many changes cost little
// more than one.
type reconciler struct {
	options controller.Environment

	queue controller.Queue[round]
	// failures is the number of rounds that failed in a row.
	failures int

	mu  sync.Mutex
	due due
}

// A due is the set of policies whose status is to be written.
type due struct {
	every, everyBinding bool
	named               map[policyKey]bool
}

// A policyKey names a policy of either kind.
type policyKey struct {
	binding bool
	name    string
}

// A round is the only work item of the policy status controller: it handles all
// policies that are due.
type round struct{}

// New declares the controller. It watches all that policies select, and policies.
func New(options controller.Environment) *controller.Spec[round] {
	r := &reconciler{options: options}
	every := func(_ context.Context, q controller.Queue[round], _ ...client.Object) { r.want(q, due{every: true}) }
	binding := func(_ context.Context, q controller.Queue[round], _ ...client.Object) {
		r.want(q, due{everyBinding: true})
	}
	named := func(_ context.Context, q controller.Queue[round], versions ...client.Object) {
		r.want(q, due{named: map[policyKey]bool{policyKeyOf(versions[0]): true}})
	}
	return &controller.Spec[round]{
		Name: "reporter", Workers: 1, Do: r.reconcile,
		Begin: func(q controller.Queue[round]) {
			r.queue = q
			r.want(q, due{every: true})
		},
		Watches: []controller.Watch[round]{
			{Object: &v1beta1.ClusterServiceClass{}, When: controller.Changes, Enqueue: every},
			{Object: &v1beta1.ServiceClass{}, When: controller.Changes, Enqueue: every},
			{Object: &v1beta1.ClusterServicePlan{}, When: controller.Changes, Enqueue: every},
			{Object: &v1beta1.ServicePlan{}, When: controller.Changes, Enqueue: every},
			{Object: &corev1.Namespace{}, When: controller.Changes, Enqueue: every},
			{Object: &v1beta1.ServiceInstance{}, When: controller.Changes, Enqueue: binding},
			{Object: &v1beta1.ProvisioningPolicy{}, When: controller.Changes, Enqueue: named},
			{Object: &v1beta1.BindingPolicy{}, When: controller.Changes, Enqueue: named},
		},
	}
}

// reconcile runs a round, and then pauses.
func (r *reconciler) reconcile(ctx context.Context, _ round) (reconcile.Result, error) {
	took, failed := r.round(ctx)
	if r.failures++; !failed {
		r.failures = 0
	}
	r.sleep(ctx, pauseAfter(took, r.failures))
	return reconcile.Result{}, nil
}

func (r *reconciler) sleep(ctx context.Context, d time.Duration) {
	timer := r.options.Clock.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C():
	}
}

// pauseAfter is the pause after a round whose survey took so long, and after so
// many rounds that failed.
func pauseAfter(took time.Duration, failures int) time.Duration {
	pause := max(reportPause, controller.PauseShare*took)
	for range failures {
		pause = min(2*pause, max(pause, controller.MaxRetryDelay))
	}
	return pause
}

// want adds policies to those that are due.
func (r *reconciler) want(q controller.Queue[round], d due) {
	r.mu.Lock()
	r.due.every = r.due.every || d.every
	r.due.everyBinding = r.due.everyBinding || d.everyBinding
	for key := range d.named {
		if r.due.named == nil {
			r.due.named = map[policyKey]bool{}
		}
		r.due.named[key] = true
	}
	r.mu.Unlock()
	q.Add(round{})
}

// take returns what is due, and resets it.
func (r *reconciler) take() due {
	r.mu.Lock()
	defer r.mu.Unlock()
	taken := r.due
	r.due = due{}
	return taken
}

func (d *due) has(key policyKey) bool {
	return d.every || d.everyBinding && key.binding || d.named[key]
}

func policyKeyOf(policy client.Object) policyKey {
	_, binding := policy.(*v1beta1.BindingPolicy)
	return policyKey{binding: binding, name: policy.GetName()}
}
