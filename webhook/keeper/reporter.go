package keeper

import (
	"context"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/defaultplan/defaultplan/api/v1beta1"
)

const (
	// reportPause lies between two rounds of reports, however much changes.
	reportPause = time.Second
	// reportShare bounds what surveys cost in a large catalog: a pause is as many
	// times as long as the survey before it.
	reportShare = 20
)

// A reporter keeps the status of policies: what each selects now. That is for
// people, so it may be a moment behind, and costs little more if much changes.
type reporter struct {
	*Keeper

	queue queue[round]
	// failures are the rounds that failed since one did not.
	failures int

	mu  sync.Mutex
	due due
}

// A due is which policies are to be reported on.
type due struct {
	every, everyBinding bool
	named               map[policyKey]bool
}

// A policyKey names a policy of either kind.
type policyKey struct {
	binding bool
	name    string
}

// A round is what the reporter does while something is due: there is one at a time.
type round struct{}

// newReporter watches all that policies select, and policies.
func newReporter(k *Keeper) *controllerSpec[round] {
	r := &reporter{Keeper: k}
	every := func(_ context.Context, q queue[round], _ ...client.Object) { r.want(q, due{every: true}) }
	binding := func(_ context.Context, q queue[round], _ ...client.Object) { r.want(q, due{everyBinding: true}) }
	named := func(_ context.Context, q queue[round], versions ...client.Object) {
		r.want(q, due{named: map[policyKey]bool{policyKeyOf(versions[0]): true}})
	}
	return &controllerSpec[round]{
		name: "reporter", workers: 1, do: r.reconcile,
		begin: func(q queue[round]) {
			r.queue = q
			r.want(q, due{every: true})
		},
		watches: []watched[round]{
			{&v1beta1.ClusterServiceClass{}, changes, every},
			{&v1beta1.ServiceClass{}, changes, every},
			{&v1beta1.ClusterServicePlan{}, changes, every},
			{&v1beta1.ServicePlan{}, changes, every},
			{&corev1.Namespace{}, changes, every},
			{&v1beta1.ServiceInstance{}, changes, binding},
			{&v1beta1.ProvisioningPolicy{}, changes, named},
			{&v1beta1.BindingPolicy{}, changes, named},
		},
	}
}

// reconcile does a round, and the pause after it.
func (r *reporter) reconcile(ctx context.Context, _ round) (reconcile.Result, error) {
	took, failed := r.round(ctx)
	if r.failures++; !failed {
		r.failures = 0
	}
	r.sleep(ctx, pauseAfter(took, r.failures))
	return reconcile.Result{}, nil
}

func (r *reporter) sleep(ctx context.Context, d time.Duration) {
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
	pause := max(reportPause, reportShare*took)
	for range failures {
		pause = min(2*pause, max(pause, lastRetry))
	}
	return pause
}

// want has policies reported on, together with those that are due already.
func (r *reporter) want(q queue[round], d due) {
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

// take returns what is due, which it then is no more.
func (r *reporter) take() due {
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
