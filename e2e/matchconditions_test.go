package e2e_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
)

// holdFinalizer is that of some other controller: it keeps a deleted object.
const holdFinalizer = "example.org/hold"

// TestWhichWritesTheWebhookIsAskedAbout looks at what both webhook processes were
// asked about one write. How often is the API server's business: it asks again
// where it finds that it had an old revision.
func TestWhichWritesTheWebhookIsAskedAbout(t *testing.T) {
	t.Parallel()
	absent := ofPlan("absent", "absent")
	both := []string{"mutate", "validate"}
	// The mutating half undoes the edit: nothing is left to validate.
	undone := both[:1]
	cases := map[string]struct {
		reason  string
		created edit
		deleted bool
		status  bool
		patch   string
		// asked are the halves of admission.
		asked []string
	}{
		"Touch":              {reason: "a touch of what is decided costs nothing", created: ofType("type"), patch: `{}`},
		"Label":              {reason: "nor does a label", created: ofType("type"), patch: `{"metadata":{"labels":{"a":"b"}}}`},
		"Annotation":         {reason: "nor an annotation of others", created: ofType("type"), patch: `{"metadata":{"annotations":{"a":"b"}}}`},
		"Finalizer":          {reason: "nor a finalizer of others", created: ofType("type"), patch: `{"metadata":{"finalizers":["` + api.FinalizerServiceCatalog + `","` + holdFinalizer + `","example.org/b"]}}`},
		"Status":             {reason: "status is not ours to judge", created: ofType("type"), status: true, patch: `{"status":{"provisionStatus":"Provisioned"}}`},
		"UndecidedStatus":    {reason: "not even of what is undecided", created: absent, status: true, patch: `{"status":{"lastConditionState":"a"}}`},
		"Spec":               {reason: "a change of spec is judged", created: ofType("type"), patch: `{"spec":{"parameters":{"size":2}}}`, asked: both},
		"AppliedDefaults":    {reason: "so is an edit of what admission wrote", created: ofType("type"), patch: `{"metadata":{"annotations":{"` + api.AnnotationAppliedDefaults + `":"{}"}}}`, asked: undone},
		"Minted":             {reason: "and of the marker", created: ofType("type"), patch: `{"metadata":{"annotations":{"` + api.AnnotationMintedExternalID + `":null}}}`, asked: undone},
		"UndecidedLabel":     {reason: "any write may decide what is undecided", created: absent, patch: `{"metadata":{"labels":{"a":"b"}}}`, asked: both},
		"UndecidedTouch":     {reason: "so may the keeper's touch", created: absent, patch: `{}`, asked: both},
		"DeletedLabel":       {reason: "what is being deleted is not", created: absent, deleted: true, patch: `{"metadata":{"labels":{"a":"b"}}}`},
		"DeletedSpec":        {reason: "its spec stays guarded", created: ofType("type"), deleted: true, patch: `{"spec":{"parameters":{"size":2}}}`, asked: both},
		"DeletedFinalizers":  {reason: "letting it go passes without us", created: ofType("type"), deleted: true, patch: `{"metadata":{"finalizers":null}}`},
		"UndecidedFinalizer": {reason: "also if nothing was decided", created: absent, deleted: true, patch: `{"metadata":{"finalizers":null}}`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := newOffer(newWorld(t), clusterScope)
			o.createInstance("db", o.named(tc.created), withFinalizer(holdFinalizer))
			assert.Equal(t, both, o.asked("CREATE", admin), "every create is decided and judged")
			if tc.deleted {
				require.NoError(t, o.client.Delete(t.Context(), o.instance("db")))
			}
			patch := client.RawPatch(types.MergePatchType, []byte(tc.patch))
			if tc.status {
				require.NoError(t, o.client.Status().Patch(t.Context(), o.instance("db"), patch))
			} else {
				require.NoError(t, o.as(bob).client.Patch(t.Context(), o.instance("db"), patch))
			}
			assert.Equal(t, tc.asked, o.asked("UPDATE", bob, admin), tc.reason)
		})
	}
}

// asked are the halves of admission to which an operation by users on instance
// "db" was sent, sorted, as both webhook processes logged it.
func (w *world) asked(operation string, users ...string) []string {
	w.Helper()
	var phases []string
	for i := range 2 {
		for _, line := range w.decisions(i) {
			if line.Name == "db" && line.Operation == operation && slices.Contains(users, line.User) {
				phases = append(phases, line.Phase)
			}
		}
	}
	slices.Sort(phases)
	return slices.Compact(phases)
}

func withFinalizer(name string) edit {
	return func(i *api.ServiceInstance) { i.Finalizers = append(i.Finalizers, name) }
}
