package e2e_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
)

// The policies that need no pod.
const (
	undecidedPolicy  = "undecided.servicecatalog.k8s.io"
	unrecordedPolicy = "unrecorded.servicecatalog.k8s.io"
)

// TestPoliciesGuardWithoutTheWebhook: where the hooks are gone, nothing new is
// stored that only admission may decide; where they are back, nothing that they
// admit is refused.
func TestPoliciesGuardWithoutTheWebhook(t *testing.T) { //nolint:tparallel // the hooks come back between the cases
	t.Parallel()
	s := startStack(t, nil)
	o := newOffer(newWorldOn(t, s), clusterScope)
	require.NoError(t, s.UninstallHooks(t.Context()))
	o.createInstance("before", ofType("absent"))
	require.NoError(t, s.InstallVAP(t.Context()))
	for name, tc := range unguarded {
		t.Run("Without/"+name, func(t *testing.T) {
			err := o.client.Create(t.Context(), o.instance("new", o.named(all(tc.edits...))), client.DryRunAll)
			if tc.policy == "" {
				require.NoError(t, err, tc.reason)
				return
			}
			require.True(t, apierrors.IsInvalid(err), "%s: %v", tc.reason, err)
			assert.Contains(t, err.Error(), "'"+tc.policy+"'", tc.reason)
			assert.Contains(t, err.Error(), "kubectl get mutatingwebhookconfiguration defaultplan-webhook")
		})
	}
	t.Run("StoredBefore", func(t *testing.T) {
		o := o.in(t)
		o.patch(o.instance("before"), `{"metadata":{"labels":{"a":"b"}}}`)
		require.NoError(t, o.client.Delete(t.Context(), o.instance("before")), "what is stored stays editable, and goes")
	})

	require.NoError(t, s.InstallHooks(t.Context()))
	for name, e := range guardedFlows(o) {
		t.Run("With/"+name, func(t *testing.T) {
			w := o.in(t)
			got := w.createInstance("with-"+strings.ToLower(name), o.named(e))
			assert.Equal(t, name != "Absent", planOf(got) != "")
		})
	}
}

// unguarded are instances as they reach the policies when no hook was called, and
// the policy that refuses each.
var unguarded = map[string]struct {
	reason string
	edits  []edit
	policy string
}{
	"Type":          {reason: "nobody made a plan of it", edits: []edit{ofType("type")}, policy: undecidedPolicy},
	"Selector":      {reason: "nobody made a plan of it", edits: []edit{withSelector(map[string]string{"offer": "plan"})}, policy: undecidedPolicy},
	"EmptySelector": {reason: "it would match everything", edits: []edit{withSelector(nil)}, policy: undecidedPolicy},
	"TypeAndClass":  {reason: "a class only narrows it", edits: []edit{ofType("type"), ofPlan("class", "")}, policy: undecidedPolicy},
	"EmptyRef":      {reason: "an empty reference is none", edits: []edit{ofType("type"), withRefs("", "")}, policy: undecidedPolicy},
	"TypeAndPlan":   {reason: "a named plan may come later", edits: []edit{ofType("type"), ofPlan("class", "plan")}},
	"LocalPlan":     {reason: "in both scopes", edits: []edit{ofType("type"), ofLocalPlan("class", "plan")}},
	"Plan":          {reason: "as old manifests do", edits: []edit{ofPlan("class", "plan")}},
	"Class":         {reason: "no type, no selector", edits: []edit{ofPlan("class", "")}},
	"Ref":           {reason: "forged", edits: []edit{withRefs("c", "p")}, policy: unrecordedPolicy},
	"LocalRef":      {reason: "forged, in both scopes", edits: []edit{withLocalRefs("c", "p")}, policy: unrecordedPolicy},
	"EmptyRecord":   {reason: "an empty record is none", edits: []edit{withRefs("c", "p"), withApplied("")}, policy: unrecordedPolicy},
	"Recorded":      {reason: "as admission leaves it", edits: []edit{ofType("type"), withRefs("c", "p"), withApplied("{}")}},
	"LocalRecorded": {reason: "in both scopes", edits: []edit{ofType("type"), withLocalRefs("c", "p"), withApplied("{}")}},
}

// guardedFlows are instances that admission admits; all but Absent it decides.
func guardedFlows(o *offer) map[string]edit {
	return map[string]edit{
		"Type": ofType("type"), "Class": all(ofPlan("class", ""), withSelector(map[string]string{"offer": "plan"})), "Plan": ofPlan("class", "plan"),
		"Selector": withSelector(map[string]string{"offer": "plan"}), "Absent": all(ofType("type"), ofPlan("absent", "absent")),
		"Restored": all(withRefs(o.class, o.plan), withExternalID),
	}
}

// all makes several edits one.
func all(edits ...edit) edit {
	return func(i *api.ServiceInstance) {
		for _, e := range edits {
			e(i)
		}
	}
}

func withRefs(class, plan string) edit {
	return func(i *api.ServiceInstance) {
		i.Spec.ClusterServiceClassRef = &api.ClusterObjectReference{Name: class}
		i.Spec.ClusterServicePlanRef = &api.ClusterObjectReference{Name: plan}
	}
}

func withLocalRefs(class, plan string) edit {
	return func(i *api.ServiceInstance) {
		i.Spec.ServiceClassRef = &api.LocalObjectReference{Name: class}
		i.Spec.ServicePlanRef = &api.LocalObjectReference{Name: plan}
	}
}

func withApplied(applied string) edit {
	return func(i *api.ServiceInstance) {
		i.Annotations = map[string]string{api.AnnotationAppliedDefaults: applied}
	}
}
