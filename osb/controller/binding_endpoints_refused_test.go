package controller

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	discoveryv1 "k8s.io/api/discovery/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/osb/controller/endpoints"
)

// If the Service can be written and its slice cannot, each reconcile creates the Service and
// deletes it, and both are events that cause the next one at once: it pauses.
func TestRefusedServicePauses(t *testing.T) {
	t.Parallel()
	for name, foreign := range map[string]bool{"ForeignSlice": true, "Quota": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newEndpointWorld(t, byClusterBroker)
			w.deposited(at(byAddress))
			if foreign {
				var list discoveryv1.EndpointSliceList
				require.NoError(t, w.cache.List(t.Context(), &list))
				list.Items[0].OwnerReferences = nil // as a deletion with --cascade=orphan leaves it
				require.NoError(t, w.cache.Update(t.Context(), &list.Items[0]))
			} else {
				require.NoError(t, w.cache.DeleteAllOf(t.Context(), &discoveryv1.EndpointSlice{}, client.InNamespace("n")))
			}
			for range 3 {
				w.took()
				if !foreign {
					w.fail["create EndpointSlice"] = apierrors.NewForbidden(schema.GroupResource{Resource: "endpointslices"}, "b", nil)
				}
				status := w.healed()
				_, because := ofEndpoints(&status)
				assert.Contains(t, []string{endpoints.ReasonServiceForeign, endpoints.ReasonServiceRefused}, because)
			}
			w.took()
			w.healed()
			for _, request := range w.took() {
				assert.Regexp(t, "^(get|list) ", request, "a refusal in a row writes nothing")
			}
		})
	}
}
