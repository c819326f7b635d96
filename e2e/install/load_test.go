package install_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/stretchr/testify/assert"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/e2e/stack/wait"
)

// loadInterval is the time between two requests of each kind of load.
const loadInterval = 100 * time.Millisecond

// A load is a steady one of requests that the hooks decide on: creates by type, most of
// them dry runs so that brokers and disks have little of it, and updates.
type load struct {
	cluster *cluster
	cancel  context.CancelFunc
	wg      sync.WaitGroup

	mu       sync.Mutex
	failures []string
	// served counts the requests, late those that were sent again; slowest is the longest
	// that one took.
	served  int
	late    int
	slowest time.Duration
	made    []*api.ServiceInstance
}

// underLoad starts the load. The instance is what it updates.
func (c *cluster) underLoad(instance *api.ServiceInstance) *load {
	ctx, cancel := context.WithCancel(c.Context())
	l := &load{cluster: c, cancel: cancel}
	key := client.ObjectKeyFromObject(instance)
	l.every(ctx, loadInterval, "create (dry run)", func(ctx context.Context, i int) error {
		return c.client.Create(ctx, database(fmt.Sprintf("trial-%d", i)), client.DryRunAll)
	})
	l.every(ctx, 5*loadInterval, "create", func(ctx context.Context, i int) error {
		made := database(fmt.Sprintf("load-%d-%d", time.Now().UnixNano(), i))
		if err := c.client.Create(ctx, made); err != nil {
			return err
		}
		l.mu.Lock()
		defer l.mu.Unlock()
		l.made = append(l.made, made)
		return nil
	})
	l.every(ctx, loadInterval, "update", func(ctx context.Context, i int) error {
		object := &api.ServiceInstance{}
		object.Namespace, object.Name = key.Namespace, key.Name
		patch := fmt.Appendf(nil, `{"spec":{"updateRequests":%d}}`, i+1)
		return c.client.Patch(ctx, object, client.RawPatch(types.MergePatchType, patch), client.DryRunAll)
	})
	return l
}

// mostAtOnce bounds the requests of one kind that wait for an answer: on a busy machine
// the load must not be what keeps them from being answered.
const mostAtOnce = 8

// every sends one request per interval until the load ends, each on its own: one that
// hangs does not keep the next from being sent, but for mostAtOnce of them.
func (l *load) every(ctx context.Context, interval time.Duration, what string, send func(context.Context, int) error) {
	l.wg.Go(func() {
		ticker := time.NewTicker(wait.Patience(interval))
		defer ticker.Stop()
		free := make(chan struct{}, mostAtOnce)
		for i := 0; ; i++ {
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
				free <- struct{}{}
			}
			l.wg.Go(func() {
				defer func() { <-free }()
				l.record(what, func() error { return send(context.WithoutCancel(ctx), i) })
			})
		}
	})
}

// triesWhenBusy is how often a request is sent to which the machine was too busy to answer
// in time, which makes a minute of a hook's 5 s: a busy machine was seen to stand still for
// 20. A hook that does not answer at all fails each of them.
const triesWhenBusy = 12

// record sends a request, and again if the machine was too busy to answer in time.
func (l *load) record(what string, send func() error) {
	began := time.Now()
	err := send()
	late := err != nil && wait.Overloaded(err)
	for range triesWhenBusy - 1 {
		if err == nil || !wait.Overloaded(err) {
			break
		}
		err = send()
	}
	took := time.Since(began)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.served++
	if late {
		l.late++
	}
	l.slowest = max(l.slowest, took)
	if err != nil {
		l.failures = append(l.failures, fmt.Sprintf("%s at %s: %s", what, began.Format("05.000"), err))
	}
}

// end ends the load, of which no request may have failed; its instances are removed.
func (l *load) end(during string) {
	l.cluster.Helper()
	l.stop()
	assert.Empty(l.cluster, l.failures, "during %s, %d of %d requests failed", during, len(l.failures), l.served)
	l.cluster.Logf("%s: %d requests, %d failed, %d sent again; the slowest took %s", during, l.served, len(l.failures), l.late, l.slowest.Round(time.Millisecond))
	l.cleanUp()
}

// endKnowing is end where a release that is out already has a fault that no later one
// can mend: requests may have failed of which the answer says just that.
func (l *load) endKnowing(during string, faults ...string) {
	l.cluster.Helper()
	l.stop()
	for _, failure := range l.failures {
		known := slices.ContainsFunc(faults, func(fault string) bool { return strings.Contains(failure, fault) })
		assert.True(l.cluster, known, "during %s: %s", during, failure)
	}
	l.cluster.Logf("%s: %d requests, %d failed by one of %q; the slowest took %s", during, l.served, len(l.failures), faults, l.slowest.Round(time.Millisecond))
	l.cleanUp()
}

// stop ends the load once no pod is about to end any more: how one ends is what a load
// is there to see.
func (l *load) stop() {
	l.cluster.Helper()
	l.cluster.settled()
	l.cancel()
	l.wg.Wait()
}

func (l *load) cleanUp() {
	l.cluster.Helper()
	for _, made := range l.made {
		assert.NoError(l.cluster, l.cluster.client.Delete(l.cluster.Context(), made))
	}
	for _, made := range l.made {
		l.cluster.gone(made)
	}
}
