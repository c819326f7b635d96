package endpoints

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr/funcr"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	networkingv1 "k8s.io/api/networking/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/log"
)

// A controller of the whole cluster says, once, that it may not read where the cluster's
// own addresses are; one of some namespaces has no right to, and says nothing.
func TestSurroundingsUnread(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason string
		whole  bool
		lines  int
	}{
		"Whole":      {reason: "a right is missing", whole: true, lines: 1},
		"Namespaces": {reason: "it is as it is meant to be"},
	}
	scheme := runtime.NewScheme()
	require.NoError(t, corev1.AddToScheme(scheme))
	require.NoError(t, discoveryv1.AddToScheme(scheme))
	require.NoError(t, networkingv1.AddToScheme(scheme))
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			live := interceptor.NewClient(fake.NewClientBuilder().WithScheme(scheme).Build(), interceptor.Funcs{
				Get: func(context.Context, client.WithWatch, client.ObjectKey, client.Object, ...client.GetOption) error {
					return apierrors.NewForbidden(schema.GroupResource{Resource: "services"}, "kubernetes", nil)
				},
			})
			around := &NetworkRules{Live: live, Clock: clock.RealClock{}, Reread: time.Duration(0), Whole: tc.whole, Beyond: func(error) bool { return false }}
			var lines []string
			ctx := log.IntoContext(t.Context(), funcr.New(func(_, args string) { lines = append(lines, args) }, funcr.Options{}))
			for range 2 {
				_, err := around.Current(ctx)
				require.NoError(t, err)
			}
			require.Len(t, lines, tc.lines, tc.reason)
			assert.Equal(t, tc.whole, strings.Contains(strings.Join(lines, ""), "--cluster-cidrs"))
		})
	}
}
