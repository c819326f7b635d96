package endpoints

import (
	"context"
	"errors"
	"net/netip"
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
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
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
		only   bool
		lines  int
		flag   string
	}{
		"Whole":      {reason: "a right is missing", whole: true, lines: 1, flag: "--cluster-cidrs"},
		"APIServer":  {reason: "another flag closes its addresses to brokers", whole: true, only: true, lines: 1, flag: "--deny-broker-cidrs"},
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
			around := &NetworkRules{Live: live, Clock: clock.RealClock{}, Reread: time.Duration(0), Whole: tc.whole, APIServerOnly: tc.only, Beyond: func(error) bool { return false }}
			var lines []string
			ctx := log.IntoContext(t.Context(), funcr.New(func(_, args string) { lines = append(lines, args) }, funcr.Options{}))
			for range 2 {
				_, err := around.Current(ctx)
				require.NoError(t, err)
			}
			require.Len(t, lines, tc.lines, tc.reason)
			assert.Contains(t, strings.Join(lines, ""), tc.flag)
		})
	}
}

// Without --endpoints the API server's own addresses are read, each object by its name, and
// nothing else of the cluster.
func TestAPIServerOnly(t *testing.T) {
	t.Parallel()
	scheme := runtime.NewScheme()
	require.NoError(t, corev1.AddToScheme(scheme))
	require.NoError(t, discoveryv1.AddToScheme(scheme))
	meta := metav1.ObjectMeta{Namespace: "default", Name: "kubernetes"}
	here := fake.NewClientBuilder().WithScheme(scheme).WithObjects(
		&corev1.Service{ObjectMeta: meta, Spec: corev1.ServiceSpec{ClusterIP: "10.96.0.1"}},
		&discoveryv1.EndpointSlice{ObjectMeta: meta, Endpoints: []discoveryv1.Endpoint{{Addresses: []string{"10.3.3.3"}}}},
	).Build()
	live := interceptor.NewClient(here, interceptor.Funcs{
		List: func(context.Context, client.WithWatch, client.ObjectList, ...client.ListOption) error {
			return errors.New("nothing is listed")
		},
	})
	around := &NetworkRules{Live: live, Clock: clock.RealClock{}, Reread: time.Minute, Whole: true, APIServerOnly: true, Beyond: func(error) bool { return false }}
	rules, err := around.Current(t.Context())
	require.NoError(t, err)
	assert.Equal(t, []netip.Addr{netip.MustParseAddr("10.96.0.1"), netip.MustParseAddr("10.3.3.3")}, rules.APIServer)
	assert.Empty(t, rules.Cluster)
}
