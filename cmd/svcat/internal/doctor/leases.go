package doctor

import (
	"context"
	"fmt"
	"strings"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/webhook/keeper"
)

// A duty is what one of several processes does, elected by a Lease.
type duty struct {
	check, lease string
	// undone is what does not happen while no replica does it.
	undone string
	// named says that others may do it too, each under a name of its own, with the Lease
	// that ends in it; their undone has a place for the name.
	named string
}

var duties = []duty{
	{"keeper", keeper.DefaultLeaseName, "new defaults are not recorded, and instances that wait for a plan are not woken", ""},
	{
		"controller", "defaultplan-controller", "no broker is called: nothing is provisioned, bound or removed",
		"no broker with the spec.controllerName %s is called",
	},
}

// The leases are those of the namespace of the webhook and the controller.
type leases struct {
	reader    client.Reader
	clock     clock.PassiveClock
	namespace string
}

// all looks whether there is a keeper and a controller, be it one with a name alone.
func (l leases) all(ctx context.Context) []finding {
	var findings []finding
	for i := range duties {
		findings = append(findings, l.duty(ctx, &duties[i])...)
	}
	return findings
}

// duty looks at the Leases of one duty.
func (l leases) duty(ctx context.Context, d *duty) []finding {
	lease := &coordinationv1.Lease{}
	err := l.reader.Get(ctx, client.ObjectKey{Namespace: l.namespace, Name: d.lease}, lease)
	var others []coordinationv1.Lease
	if d.named != "" && (err == nil || apierrors.IsNotFound(err)) {
		var list coordinationv1.LeaseList
		listed := l.reader.List(ctx, &list, client.InNamespace(l.namespace))
		if err != nil && listed != nil {
			err = listed // it is not known that there is none
		}
		others = list.Items
	}
	var findings []finding
	for i := range others {
		if name, is := strings.CutPrefix(others[i].Name, d.lease+"-"); is && d.named != "" {
			one := duty{check: d.check, lease: others[i].Name, undone: fmt.Sprintf(d.named, name)}
			findings = append(findings, one.judge(&others[i], nil, l.namespace, l.clock.Now()))
		}
	}
	if apierrors.IsNotFound(err) && len(findings) > 0 {
		return findings
	}
	return append([]finding{d.judge(lease, err, l.namespace, l.clock.Now())}, findings...)
}

// judge says whether a Lease is held. One that was held twice its time ago has lost
// its holder.
func (d *duty) judge(lease *coordinationv1.Lease, err error, namespace string, now time.Time) finding {
	do := "kubectl -n " + namespace + " get pods; elsewhere installed, name it: svcat check --system-namespace"
	if apierrors.IsNotFound(err) {
		return failedf(d.check, do, "namespace %q has no Lease %s: none seems to run, and while none does %s", namespace, d.lease, d.undone)
	}
	if err != nil {
		return unread(d.check, "leases of namespace "+namespace, err)
	}
	if lease.Spec.HolderIdentity == nil || *lease.Spec.HolderIdentity == "" || lease.Spec.RenewTime == nil {
		return failedf(d.check, do, "no replica holds the Lease %s: %s", d.lease, d.undone)
	}
	term := time.Duration(0)
	if lease.Spec.LeaseDurationSeconds != nil {
		term = time.Duration(*lease.Spec.LeaseDurationSeconds) * time.Second
	}
	if now.Sub(lease.Spec.RenewTime.Time) > 2*term {
		return failedf(d.check, do, "%s was last heard of at %s: %s", *lease.Spec.HolderIdentity, clockTime(lease.Spec.RenewTime.Time), d.undone)
	}
	return okf(d.check, "%s is at work", *lease.Spec.HolderIdentity)
}
