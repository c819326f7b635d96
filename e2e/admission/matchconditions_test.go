package admission_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/e2e/env"
	"github.com/defaultplan/defaultplan/e2e/offering"
)

// TestWhichWritesTheWebhookIsAskedAbout looks at what both webhook processes were
// asked about one write. How often is the API server's business: it asks again
// where it finds that it had an old revision.
func TestWhichWritesTheWebhookIsAskedAbout(t *testing.T) {
	t.Parallel()
	absent := env.OfPlan("absent", "absent")
	both := []string{"mutate", "validate"}
	// The mutating half undoes the edit: nothing is left to validate.
	undone := both[:1]
	cases := map[string]struct {
		reason  string
		created env.InstanceEdit
		deleted bool
		status  bool
		patch   string
		// requestsOf are the halves of admission.
		asked []string
	}{
		"Touch":              {reason: "a touch of what is decided costs nothing", created: env.OfType("type"), patch: `{}`},
		"Label":              {reason: "nor does a label", created: env.OfType("type"), patch: `{"metadata":{"labels":{"a":"b"}}}`},
		"Annotation":         {reason: "nor an annotation of others", created: env.OfType("type"), patch: `{"metadata":{"annotations":{"a":"b"}}}`},
		"Finalizer":          {reason: "nor a finalizer of others", created: env.OfType("type"), patch: `{"metadata":{"finalizers":["` + api.FinalizerServiceCatalog + `","` + env.HoldFinalizer + `","example.org/b"]}}`},
		"Status":             {reason: "status is not ours to judge", created: env.OfType("type"), status: true, patch: `{"status":{"provisionStatus":"Provisioned"}}`},
		"UndecidedStatus":    {reason: "not even of what is undecided", created: absent, status: true, patch: `{"status":{"lastConditionState":"a"}}`},
		"Spec":               {reason: "a change of spec is judged", created: env.OfType("type"), patch: `{"spec":{"parameters":{"size":2}}}`, asked: both},
		"AppliedDefaults":    {reason: "so is an edit of what admission wrote", created: env.OfType("type"), patch: `{"metadata":{"annotations":{"` + api.AnnotationAppliedDefaults + `":"{}"}}}`, asked: undone},
		"Minted":             {reason: "and of the marker", created: env.OfType("type"), patch: `{"metadata":{"annotations":{"` + api.AnnotationMintedExternalID + `":null}}}`, asked: undone},
		"UndecidedLabel":     {reason: "any write may decide what is undecided", created: absent, patch: `{"metadata":{"labels":{"a":"b"}}}`, asked: both},
		"UndecidedTouch":     {reason: "so may the keeper's touch", created: absent, patch: `{}`, asked: both},
		"DeletedLabel":       {reason: "what is being deleted is not", created: absent, deleted: true, patch: `{"metadata":{"labels":{"a":"b"}}}`},
		"DeletedSpec":        {reason: "its spec stays guarded", created: env.OfType("type"), deleted: true, patch: `{"spec":{"parameters":{"size":2}}}`, asked: both},
		"DeletedFinalizers":  {reason: "letting it go passes without us", created: env.OfType("type"), deleted: true, patch: `{"metadata":{"finalizers":null}}`},
		"UndecidedFinalizer": {reason: "also if nothing was decided", created: absent, deleted: true, patch: `{"metadata":{"finalizers":null}}`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := offering.New(env.New(t), offering.Cluster)
			o.CreateInstance("db", o.Named(tc.created), env.WithFinalizer(env.HoldFinalizer))
			assert.Equal(t, both, requestsOf(o.Env, "CREATE", env.Admin), "every create is decided and judged")
			if tc.deleted {
				require.NoError(t, o.Client().Delete(t.Context(), o.Instance("db")))
				isDeletedInCache(o.Env, o.Instance("db"))
			}
			patch := client.RawPatch(types.MergePatchType, []byte(tc.patch))
			if tc.status {
				require.NoError(t, o.Client().Status().Patch(t.Context(), o.Instance("db"), patch))
			} else {
				require.NoError(t, o.As(env.Bob).Client().Patch(t.Context(), o.Instance("db"), patch))
			}
			assert.Equal(t, tc.asked, requestsOf(o.Env, "UPDATE", env.Bob, env.Admin), tc.reason)
		})
	}
}

// isDeletedInCache waits until the API server's watch cache has the deletion of an
// instance. An update begins with what is in there, and asks the webhook about it.
func isDeletedInCache(e *env.Env, instance *api.ServiceInstance) {
	e.Helper()
	cached := &client.GetOptions{Raw: &metav1.GetOptions{ResourceVersion: "0"}}
	e.Eventually(func() (bool, error) {
		if err := e.Client().Get(e.Context(), client.ObjectKeyFromObject(instance), instance, cached); err != nil {
			return false, err
		}
		return instance.DeletionTimestamp != nil, nil
	})
}

// requestsOf are the halves of admission to which an operation by users on instance
// "db" was sent, sorted, as both webhook processes logged it.
func requestsOf(e *env.Env, operation string, users ...string) []string {
	e.Helper()
	var phases []string
	for i := range 2 {
		for _, line := range e.Decisions(i) {
			if line.Name == "db" && line.Operation == operation && slices.Contains(users, line.User) {
				phases = append(phases, line.Phase)
			}
		}
	}
	slices.Sort(phases)
	return slices.Compact(phases)
}
