package keeper_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
)

// A contested client lets another client write just before its first grant.
type contested struct {
	client.Client

	other func()
}

func (c contested) Status() client.SubResourceWriter {
	return contestedWriter{c.Client.Status(), c.other}
}

type contestedWriter struct {
	client.SubResourceWriter

	other func()
}

func (w contestedWriter) Patch(ctx context.Context, object client.Object, patch client.Patch, options ...client.SubResourcePatchOption) error {
	if patch.Type() == types.JSONPatchType {
		w.other()
	}
	return w.SubResourceWriter.Patch(ctx, object, patch, options...)
}

// TestOfTwoKeepersOneGrants: a decision on a policy that was written meanwhile
// is not stored, whether another keeper granted slots, or a user lowered the
// limit or recreated the policy.
func TestOfTwoKeepersOneGrants(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason string
		other  func(context.Context, *house, *v1beta1.ProvisioningPolicy) error
		want   []types.UID
	}{
		"Granted": {
			reason: "another keeper gave the slot away", want: []types.UID{"a/b"},
			other: func(ctx context.Context, h *house, p *v1beta1.ProvisioningPolicy) error {
				p.Status.Slots = []v1beta1.PolicySlots{{Namespace: "a", Instances: []types.UID{"a/b"}}}
				return h.WithWatch.Status().Update(ctx, p)
			},
		},
		"Lowered": {
			reason: "there is none any more",
			other: func(ctx context.Context, h *house, p *v1beta1.ProvisioningPolicy) error {
				p.Spec.MaxInstances = new(int32(0))
				return h.Update(ctx, p)
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			objects := []client.Object{namespace("a"), clusterClass("mysql"), clusterPlan(""), limitMySQL("few", 1), aged("a", 1), aged("b", 2)}
			inHouse(t, objects, func(ctx context.Context, h *house) {
				granted := 0
				options := h.options()
				options.Client = contested{Client: h, other: sync.OnceFunc(func() {
					granted++
					p := &v1beta1.ProvisioningPolicy{}
					require.NoError(t, h.Get(ctx, client.ObjectKey{Name: "few"}, p))
					require.NoError(t, tc.other(ctx, h, p))
				})}
				h.keep(ctx, options)
				h.pass(time.Minute)
				require.Equal(t, 1, granted, "or this shows nothing")
				instances, _ := h.slotsOf(ctx, "few")
				assert.Equal(t, tc.want, instances, tc.reason)
			})
		})
	}
}
