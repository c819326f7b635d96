package controller

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/osb/controller/queue"
	"github.com/defaultplan/defaultplan/osb/lifecycle"
	"github.com/defaultplan/defaultplan/osb/osbtest"
)

// If the Secret of a rotation is stored and its outcome is not, the endpoints that came with
// the new credentials are fetched again, as after a first bind.
func TestRotationWithoutOutcome(t *testing.T) {
	t.Parallel()
	w := newBindingWorld(t, func(b *v1beta1.ServiceBinding) { b.Spec.Rotation = &v1beta1.Rotation{} })
	w.rotatable(false)
	host := "10.1.1.1"
	w.broker.SetEndpoints(func(osbtest.Binding) []map[string]any {
		return []map[string]any{{"host": host, "ports": []string{"5432"}}}
	})
	w.reconciler.rotating = lifecycle.Rotating{Margin: time.Hour, Overlap: time.Hour, Pause: time.Minute}
	w.pass()
	b := w.exposes()
	require.Equal(t, "10.1.1.1", b.Status.Endpoints[0].Host)
	former := lifecycle.InForce(b)
	host = "10.2.2.2"
	w.request()
	// The process dies between the Secret and the outcome.
	written := false
	w.sees = func(request string) {
		switch request {
		case "update Secret", "patch Secret", "create Secret":
			written = true
		case "patch status ServiceBinding":
			if written {
				w.fail[request] = apierrors.NewInvalid(schema.GroupKind{Group: v1beta1.GroupName, Kind: "ServiceBinding"}, "b", nil)
			}
		}
	}
	for range 3 {
		turn := w.turn()
		_, _ = w.reconciler.Reconcile(queue.NewContext(t.Context(), turn), reconcile.Request{NamespacedName: w.at})
		turn.End(nil)
		if written {
			break
		}
	}
	require.True(t, written)
	w.sees, w.fail = nil, map[string]error{}
	w.reconciler.engine.clock = clocktesting.NewFakePassiveClock(time.Now().Add(5 * time.Minute))
	for range 4 {
		w.pass()
		b = w.exposes()
	}
	require.NotEqual(t, former, lifecycle.InForce(b))
	assert.Equal(t, "10.2.2.2", b.Status.Endpoints[0].Host, "the endpoints are those of the credentials in force")
}
