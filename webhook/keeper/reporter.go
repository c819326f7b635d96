package keeper

import (
	"context"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

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

	// rung holds something while there is something due.
	rung chan struct{}

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

func newReporter(k *Keeper) *reporter {
	return &reporter{Keeper: k, rung: make(chan struct{}, 1)}
}

// run works until ctx ends. When it returns, nothing of it is running.
func (r *reporter) run(ctx context.Context) error {
	end, err := r.watch(ctx)
	if err != nil {
		return err
	}
	defer end()
	r.want(due{every: true})
	failures := 0
	for r.rings(ctx) {
		took, failed := r.round(ctx)
		if failures++; !failed {
			failures = 0
		}
		r.sleep(ctx, pauseAfter(took, failures))
	}
	return nil
}

// rings waits until something is due. It says whether that came before the end.
func (r *reporter) rings(ctx context.Context) bool {
	select {
	case <-ctx.Done():
		return false
	case <-r.rung:
		return ctx.Err() == nil
	}
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
func (r *reporter) want(d due) {
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
	select {
	case r.rung <- struct{}{}:
	default:
	}
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

// watch listens to all that policies select, and to policies.
func (r *reporter) watch(ctx context.Context) (func(), error) {
	every := onChange(func(...client.Object) { r.want(due{every: true}) })
	binding := onChange(func(...client.Object) { r.want(due{everyBinding: true}) })
	named := onChange(func(versions ...client.Object) {
		r.want(due{named: map[policyKey]bool{policyKeyOf(versions[0]): true}})
	})
	return r.listenAll(ctx, []listening{
		{&v1beta1.ClusterServiceClass{}, every},
		{&v1beta1.ServiceClass{}, every},
		{&v1beta1.ClusterServicePlan{}, every},
		{&v1beta1.ServicePlan{}, every},
		{&corev1.Namespace{}, every},
		{&v1beta1.ServiceInstance{}, binding},
		{&v1beta1.ProvisioningPolicy{}, named},
		{&v1beta1.BindingPolicy{}, named},
	})
}

func policyKeyOf(policy client.Object) policyKey {
	_, binding := policy.(*v1beta1.BindingPolicy)
	return policyKey{binding: binding, name: policy.GetName()}
}
