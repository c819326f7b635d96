package keeper_test

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
)

// A slotless client takes no grants for a while.
type slotless struct {
	client.Client

	why error
	// until is when it takes them again.
	until time.Time
	*slotlessCounts
}

// slotlessCounts are tries to grant, and conflicts among them: the keeper writes what it
// reports on a policy as well, and no event tells of a try beside that write.
type slotlessCounts struct {
	tries, conflicts int
	// last is the patch that was refused last.
	last string
}

// slotlessLive counts conflicts where the keeper sees them: it looks at the policy again
// after each refusal.
type slotlessLive struct {
	client.Reader
	*slotlessCounts
}

func (l slotlessLive) Get(ctx context.Context, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
	err := l.Reader.Get(ctx, key, object, options...)
	if _, ok := object.(*v1beta1.ProvisioningPolicy); ok && !strings.Contains(l.last, strconv.Quote(object.GetResourceVersion())) {
		l.conflicts++
	}
	return err
}

func (r slotless) Status() client.SubResourceWriter {
	return slotlessWriter{r.Client.Status(), r}
}

type slotlessWriter struct {
	client.SubResourceWriter

	slotless
}

func (w slotlessWriter) Patch(ctx context.Context, object client.Object, patch client.Patch, options ...client.SubResourcePatchOption) error {
	if patch.Type() == types.JSONPatchType && time.Now().Before(w.until) {
		data, err := patch.Data(object)
		if err != nil {
			return err
		}
		w.tries++
		w.last = string(data)
		return w.why
	}
	return w.SubResourceWriter.Patch(ctx, object, patch, options...)
}

// TestSlotsThatAreNotTaken: a policy that has no room for its slots is tried ever more
// seldom, and an event says so.
func TestSlotsThatAreNotTaken(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason string
		why    error
	}{
		"Invalid":       {"the schema bounds how many", apierrors.NewInvalid(v1beta1.Kind("ProvisioningPolicy"), "few", nil)},
		"TooLarge":      {"the request is", apierrors.NewRequestEntityTooLargeError("limit is 3145728")},
		"StoreTooLarge": {"the object is", apierrors.NewInternalError(errors.New("etcdserver: request is too large"))},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			objects := []client.Object{namespace("a"), clusterClass("mysql"), clusterPlan(""), limitMySQL("few", 1), aged("a", 1)}
			inHouse(t, objects, func(ctx context.Context, h *house) {
				counts := &slotlessCounts{}
				options := h.options()
				options.Client = slotless{h, tc.why, time.Now().Add(time.Minute), counts}
				options.Live = slotlessLive{h, counts}
				h.keep(ctx, options)
				h.pass(time.Minute)
				assert.Greater(t, counts.tries, 3, tc.reason)
				assert.Less(t, counts.tries, 20, "not every 20 ms: %s", tc.reason)
				told := slices.DeleteFunc(h.told(), func(e string) bool { return !strings.Contains(e, "/few Warning SlotsNotStored") })
				require.Len(t, told, counts.tries-counts.conflicts)
				assert.Contains(t, told[0], `namespace "a"`)
				h.pass(time.Minute)
				instances, _ := h.slotsOf(ctx, "few")
				assert.Equal(t, []types.UID{"a/a"}, instances, "it goes on by itself")
			})
		})
	}
}

// A slowList takes a second for the instances of a namespace, and counts.
type slowList struct {
	client.Reader

	lists *[]time.Time
}

func (s slowList) List(ctx context.Context, list client.ObjectList, options ...client.ListOption) error {
	if _, ok := list.(*v1beta1.ServiceInstanceList); ok && slices.Contains(options, client.ListOption(client.InNamespace("a"))) {
		<-time.After(time.Second)
		*s.lists = append(*s.lists, time.Now())
	}
	return s.Reader.List(ctx, list, options...)
}

// TestALargeNamespaceIsNotListedForEachWrite of a status; a new claim does not
// wait.
func TestALargeNamespaceIsNotListedForEachWrite(t *testing.T) {
	t.Parallel()
	objects := []client.Object{namespace("a"), namespace("b"), clusterClass("mysql"), clusterPlan(""), limitMySQL("few", 2), aged("a", 1)}
	inHouse(t, objects, func(ctx context.Context, h *house) {
		var lists []time.Time
		options := h.options()
		options.Live = slowList{h, &lists}
		h.keep(ctx, options)
		h.pass(time.Minute)
		lists = nil
		for i := range 120 {
			db := &v1beta1.ServiceInstance{}
			require.NoError(t, h.Get(ctx, client.ObjectKey{Namespace: "a", Name: "a"}, db))
			db.Status.DashboardURL = new(strings.Repeat("x", i))
			require.NoError(t, h.Update(ctx, db))
			h.pass(500 * time.Millisecond)
		}
		assert.NotEmpty(t, lists)
		assert.LessOrEqual(t, len(lists), 4, "in a minute, with two writes a second")

		asked := time.Now()
		require.NoError(t, h.Create(ctx, aged("b", 2)))
		h.pass(5 * time.Second)
		instances, _ := h.slotsOf(ctx, "few")
		assert.Equal(t, []types.UID{"a/a", "a/b"}, instances)
		assert.Less(t, lists[len(lists)-1].Sub(asked), 5*time.Second)
	})
}

// TestNothingIsListedWhereNothingIsLimited, though elsewhere something is.
func TestNothingIsListedWhereNothingIsLimited(t *testing.T) {
	t.Parallel()
	elsewhere := limitMySQL("few", 2)
	elsewhere.Spec.Namespaces = &v1beta1.PolicyNamespaces{Names: []string{"b"}}
	inHouse(t, []client.Object{namespace("a"), clusterClass("mysql"), clusterPlan(""), elsewhere, aged("a", 1)}, func(ctx context.Context, h *house) {
		var lists []time.Time
		options := h.options()
		options.Live = slowList{h, &lists}
		policies := 0
		options.Live = policyCounter{options.Live, &policies}
		h.keep(ctx, options)
		h.pass(time.Minute)
		policies = 0
		require.NoError(t, h.Create(ctx, aged("b", 2)))
		h.pass(10 * time.Second)
		assert.Empty(t, lists)
		assert.Zero(t, policies, "not even the policies are")
	})
}

// A policyCounter reader counts the lists of policies.
type policyCounter struct {
	client.Reader

	policies *int
}

func (c policyCounter) List(ctx context.Context, list client.ObjectList, options ...client.ListOption) error {
	if _, ok := list.(*v1beta1.ProvisioningPolicyList); ok {
		*c.policies++
	}
	return c.Reader.List(ctx, list, options...)
}
