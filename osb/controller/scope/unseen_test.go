package scope

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/defaultplan/defaultplan/api/v1beta1"
)

// What waits for a controller that may not run says for which one, once that had the time to say
// anything itself.
func TestUnseenIsTold(t *testing.T) {
	t.Parallel()
	noon := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	for name, tc := range map[string]struct {
		reason string
		scope  Scope
		age    time.Duration
		edit   func(*v1beta1.ServiceInstance)
		told   bool
		wait   time.Duration
	}{
		"Old":     {reason: "nothing else says why it waits", age: 2 * time.Minute, told: true},
		"Young":   {reason: "its controller may be about to", age: time.Minute, wait: time.Minute},
		"Seen":    {reason: "its status is its controller's", age: time.Hour, edit: func(i *v1beta1.ServiceInstance) { i.Status.Conditions = []v1beta1.Condition{v1beta1.Ready("Done", "")} }},
		"Deleted": {reason: "it goes", age: time.Hour, edit: func(i *v1beta1.ServiceInstance) { i.DeletionTimestamp = new(metav1.NewTime(noon)) }},
		"Named":   {reason: "one tells", age: time.Hour, scope: Scope{Name: "west"}},
		"Part":    {reason: "others may see more", age: time.Hour, scope: Scope{Namespaces: []string{"n"}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			i := &v1beta1.ServiceInstance{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: "i", CreationTimestamp: metav1.NewTime(noon.Add(-tc.age)), Finalizers: []string{"f"}}}
			if tc.edit != nil {
				tc.edit(i)
			}
			before := len(i.Status.Conditions)
			scheme := runtime.NewScheme()
			require.NoError(t, v1beta1.AddToScheme(scheme))
			c := fake.NewClientBuilder().WithScheme(scheme).WithObjects(i).WithStatusSubresource(i).Build()
			require.NoError(t, c.Get(t.Context(), client.ObjectKeyFromObject(i), i))
			wait, err := TellUnseen(t.Context(), c, tc.scope, i, Unseen{By: "east", Patience: 2 * time.Minute, Now: noon})
			require.NoError(t, err)
			assert.Equal(t, tc.wait, wait, tc.reason)
			require.NoError(t, c.Get(t.Context(), client.ObjectKeyFromObject(i), i))
			if assert.Equal(t, tc.told, len(i.Status.Conditions) > before, tc.reason) && tc.told {
				assert.Equal(t, `no controller called "east", which the broker names in spec.controllerName, has seen it yet`, i.Status.Conditions[0].Message)
				assert.Empty(t, i.Status.ControllerName, "it is not handled by the one that tells")
			}
		})
	}
}

// Each object is counted once, by the controller that handled it last.
func TestCounts(t *testing.T) {
	t.Parallel()
	ours, theirs := &v1beta1.ServiceInstance{}, &v1beta1.ServiceBinding{}
	theirs.Status.ControllerName = "east"
	for _, o := range []client.Object{ours, theirs} {
		assert.NotEqual(t, Scope{}.Counts(o), Scope{Name: "east"}.Counts(o))
	}
	assert.True(t, Scope{}.Counts(ours))
	assert.Equal(t, "defaultplan-controller", Scope{}.Named("defaultplan-controller"))
	assert.Equal(t, "defaultplan-controller-east", Scope{Name: "east"}.Named("defaultplan-controller"))
}
