package doctor

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	testclock "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
)

// A controller with a name is one, whether or not there is one without.
func TestControllersWithNames(t *testing.T) {
	t.Parallel()
	lease := func(name string, ago time.Duration) *coordinationv1.Lease {
		return &coordinationv1.Lease{
			ObjectMeta: metav1.ObjectMeta{Namespace: "sys", Name: name},
			Spec:       coordinationv1.LeaseSpec{HolderIdentity: new("holder of " + name), LeaseDurationSeconds: new(int32(15)), RenewTime: &metav1.MicroTime{Time: noon.Add(-ago)}},
		}
	}
	type said = map[string]level
	for name, tc := range map[string]struct {
		reason string
		leases []client.Object
		// secret is where Leases may be read by name alone.
		secret bool
		want   said
	}{
		"Nameless":  {reason: "as ever", leases: []client.Object{lease("defaultplan-controller", 0)}, want: said{"holder of defaultplan-controller is at work": levelOK}},
		"Named":     {reason: "it is one", leases: []client.Object{lease("defaultplan-controller-east", 0)}, want: said{"holder of defaultplan-controller-east is at work": levelOK}},
		"Both":      {reason: "each is told", leases: []client.Object{lease("defaultplan-controller", 0), lease("defaultplan-controller-east", time.Hour)}, want: said{"holder of defaultplan-controller is at work": levelOK, "holder of defaultplan-controller-east was last heard of at 2026-11-22 11:00:00 UTC: no broker with the spec.controllerName east is called": levelFailed}},
		"None":      {reason: "others elect too", leases: []client.Object{lease("defaultplan-controllers", 0)}, want: said{`namespace "sys" has no Lease defaultplan-controller: none seems to run, and while none does no broker is called: nothing is provisioned, bound or removed`: levelFailed}},
		"Unknown":   {reason: "there may be one with a name", leases: []client.Object{lease("defaultplan-controller-east", 0)}, secret: true, want: said{"not looked at: you may not read leases of namespace sys": levelUnknown}},
		"ByNameToo": {reason: "what one may read is told", leases: []client.Object{lease("defaultplan-controller", 0)}, secret: true, want: said{"holder of defaultplan-controller is at work": levelOK}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			scheme, err := cli.Scheme()
			require.NoError(t, err)
			c := interceptor.NewClient(fake.NewClientBuilder().WithScheme(scheme).WithObjects(tc.leases...).Build(), interceptor.Funcs{
				List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, options ...client.ListOption) error {
					if tc.secret {
						return apierrors.NewForbidden(things, "", nil)
					}
					return c.List(ctx, list, options...)
				},
			})
			l := leases{c, testclock.NewFakePassiveClock(noon), "sys"}
			got := said{}
			for _, f := range l.duty(t.Context(), &duties[1]) {
				got[f.Message] = f.Level
			}
			assert.Equal(t, tc.want, got, tc.reason)
		})
	}
}
