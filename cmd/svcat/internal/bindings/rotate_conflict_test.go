package bindings

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
)

// Another client tells a binding to keep its credentials right before it is asked to
// rotate: the request is not written over that.
func TestEditIsRepeatedAfterAConflict(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason string
		theirs v1beta1.Rotation
		wrong  string
		want   int64
	}{
		"Counted": {reason: "on top of theirs", theirs: v1beta1.Rotation{Requests: 5}, want: 6},
		"Never":   {reason: "it keeps them", theirs: v1beta1.Rotation{Requests: 5, Policy: v1beta1.RotationNever}, wrong: "policy is Never", want: 5},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			scheme, err := cli.Scheme()
			require.NoError(t, err)
			stored := &v1beta1.ServiceBinding{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "db"}}
			inner := fake.NewClientBuilder().WithScheme(scheme).WithObjects(stored).Build()
			b := &v1beta1.ServiceBinding{}
			require.NoError(t, inner.Get(t.Context(), client.ObjectKeyFromObject(stored), b))
			first := true
			c := interceptor.NewClient(inner, interceptor.Funcs{Patch: func(ctx context.Context, c client.WithWatch, object client.Object, patch client.Patch, options ...client.PatchOption) error {
				if first {
					first = false
					other := b.DeepCopy()
					other.Spec.Rotation = &tc.theirs
					require.NoError(t, c.Update(ctx, other))
				}
				return c.Patch(ctx, object, patch, options...)
			}})
			err = cli.Edit(t.Context(), c, &cli.WriteFlags{}, b, (&rotate{}).edit)
			if tc.wrong != "" {
				require.ErrorContains(t, err, tc.wrong, tc.reason)
			} else {
				require.NoError(t, err, tc.reason)
			}
			now := &v1beta1.ServiceBinding{}
			require.NoError(t, inner.Get(t.Context(), client.ObjectKeyFromObject(b), now))
			assert.Equal(t, tc.want, now.Spec.Rotation.Requests)
		})
	}
}

func TestRotateRefusesTimesBelowZero(t *testing.T) {
	t.Parallel()
	cmd := newRotateBinding(&cli.Env{})
	cmd.SetArgs([]string{"db", "--overlap=-1h"})
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	err := cmd.ExecuteContext(t.Context())
	require.ErrorContains(t, err, `--overlap is "-1h0m0s"`)
	assert.Equal(t, cli.ExitUsage, cli.ExitCode(err))
}
