package world

import (
	"context"
	"time"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/time/rate"
	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	coordinationclient "k8s.io/client-go/kubernetes/typed/coordination/v1"
	"k8s.io/client-go/tools/events"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/webhook/keeper/controller"
	"github.com/defaultplan/defaultplan/webhook/keeper/defaults"
	"github.com/defaultplan/defaultplan/webhook/keeper/requeue"
	"github.com/defaultplan/defaultplan/webhook/keeper/slots"
	"github.com/defaultplan/defaultplan/webhook/options"
)

// keepers are the keeper's controllers that change what admission decides. The one that
// reports on policies writes what only people read.
func keepers(c client.Client, live client.Reader, now *clocktesting.FakeClock, of *options.Options) ([]driven, error) {
	environment := controller.Environment{Client: c, Live: live, Recorder: &events.FakeRecorder{}, Log: logr.Discard(), Clock: now}
	touches := prometheus.NewCounterVec(prometheus.CounterOpts{Name: "touches_total", Help: "Not exported."}, []string{"result"})
	all := []driven{
		drive(requeue.New(environment, touches, rate.NewLimiter(rate.Inf, 1)), now),
		drive(slots.New(environment), now),
	}
	if !of.Gates.Enabled(options.ServiceTypes) {
		return all, nil
	}
	writes, err := defaults.NewWrites(prometheus.NewRegistry())
	if err != nil {
		return nil, err //nolint:wrapcheck // it names the metric
	}
	recorder := defaults.New(defaults.Options{
		Environment: environment, Lease: lease(), Writes: writes, SuggestedPlans: of.Gates.Enabled(options.SuggestedPlans),
	})
	return append(all, drive(recorder, now)), nil
}

// firstRun is before every annotation of a plan: the keeper has run ever since.
var firstRun = time.Unix(1, 0).UTC()

// lease is the keeper's, which says when it first ran.
func lease() *resourcelock.LeaseLock {
	held := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{
		Namespace: "defaultplan-system", Name: "defaultplan-keeper",
		Annotations: map[string]string{v1beta1.GroupName + "/first-run": firstRun.Format(time.RFC3339)},
	}}
	return &resourcelock.LeaseLock{LeaseMeta: held.ObjectMeta, Client: leases{lease: held}}
}

// leases have the one Lease, which is only read.
type leases struct {
	coordinationclient.LeaseInterface

	lease *coordinationv1.Lease
}

// Leases are those of any namespace.
func (l leases) Leases(string) coordinationclient.LeaseInterface { return l }

// Get is the Lease.
func (l leases) Get(context.Context, string, metav1.GetOptions) (*coordinationv1.Lease, error) {
	return l.lease, nil
}
