package controller

import (
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr/funcr"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
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
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newEndpointWorld(t)
			around := w.reconciler.services.around
			around.whole, around.reread = tc.whole, time.Duration(0)
			var lines []string
			ctx := log.IntoContext(t.Context(), funcr.New(func(_, args string) { lines = append(lines, args) }, funcr.Options{}))
			for range 2 {
				w.fail["get Service"] = apierrors.NewForbidden(schema.GroupResource{Resource: "services"}, "kubernetes", nil)
				_, err := around.now(ctx)
				require.NoError(t, err)
			}
			require.Len(t, lines, tc.lines, tc.reason)
			assert.Equal(t, tc.whole, strings.Contains(strings.Join(lines, ""), "--cluster-cidrs"))
		})
	}
}
