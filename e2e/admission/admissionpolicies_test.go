package admission_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/e2e/env"
	"github.com/defaultplan/defaultplan/e2e/offering"
	"github.com/defaultplan/defaultplan/e2e/stack"
	"github.com/defaultplan/defaultplan/e2e/stack/suite"
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
	s := suite.New(t, stack.Options{Webhooks: 1, Releaser: true})
	o := offering.New(env.On(t, s), offering.Cluster)
	require.NoError(t, s.UninstallHooks(t.Context()))
	o.CreateInstance("before", env.OfType("absent"))
	require.NoError(t, stack.InstallVAP(t.Context(), s.Client()))
	for name, tc := range unguarded {
		t.Run("Without/"+name, func(t *testing.T) {
			err := o.Client().Create(t.Context(), o.Instance("new", o.Named(all(tc.edits...))), client.DryRunAll)
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
		o := o.In(t)
		o.Patch(o.Instance("before"), `{"metadata":{"labels":{"a":"b"}}}`)
		require.NoError(t, o.Client().Delete(t.Context(), o.Instance("before")), "what is stored stays editable, and goes")
	})

	definitionsKeepTheirFields(t, o.Env)
	definitionsOfOthersAreTheirs(t, o.Env)

	require.NoError(t, s.InstallHooks(t.Context()))
	for name, flow := range guardedFlows(o) {
		t.Run("With/"+name, func(t *testing.T) {
			e := o.In(t)
			got := e.CreateInstance("with-"+strings.ToLower(name), o.Named(flow))
			assert.Equal(t, name != "Absent", env.PlanOf(got) != "")
		})
	}
}

// unguarded are instances as they reach the policies when no hook was called, and
// the policy that refuses each.
var unguarded = map[string]struct {
	reason string
	edits  []env.InstanceEdit
	policy string
}{
	"Type":          {reason: "no plan is of it", edits: []env.InstanceEdit{env.OfType("type")}, policy: undecidedPolicy},
	"Selector":      {reason: "no plan is of it", edits: []env.InstanceEdit{env.WithSelector(map[string]string{"offer": "plan"})}, policy: undecidedPolicy},
	"EmptySelector": {reason: "it would match everything", edits: []env.InstanceEdit{env.WithSelector(nil)}, policy: undecidedPolicy},
	"TypeAndClass":  {reason: "a class only narrows it", edits: []env.InstanceEdit{env.OfType("type"), env.OfPlan("class", "")}, policy: undecidedPolicy},
	"EmptyRef":      {reason: "an empty reference is none", edits: []env.InstanceEdit{env.OfType("type"), withRefs("", "")}, policy: undecidedPolicy},
	"TypeAndPlan":   {reason: "a named plan may come later", edits: []env.InstanceEdit{env.OfType("type"), env.OfPlan("class", "plan")}},
	"LocalPlan":     {reason: "in both scopes", edits: []env.InstanceEdit{env.OfType("type"), env.OfLocalPlan("class", "plan")}},
	"Plan":          {reason: "as old manifests do", edits: []env.InstanceEdit{env.OfPlan("class", "plan")}},
	"Class":         {reason: "no type, no selector", edits: []env.InstanceEdit{env.OfPlan("class", "")}},
	"Ref":           {reason: "forged", edits: []env.InstanceEdit{withRefs("c", "p")}, policy: unrecordedPolicy},
	"LocalRef":      {reason: "forged, in both scopes", edits: []env.InstanceEdit{withLocalRefs("c", "p")}, policy: unrecordedPolicy},
	"EmptyRecord":   {reason: "an empty record is none", edits: []env.InstanceEdit{withRefs("c", "p"), withApplied("")}, policy: unrecordedPolicy},
	"Recorded":      {reason: "as admission leaves it", edits: []env.InstanceEdit{env.OfType("type"), withRefs("c", "p"), withApplied("{}")}},
	"LocalRecorded": {reason: "in both scopes", edits: []env.InstanceEdit{env.OfType("type"), withLocalRefs("c", "p"), withApplied("{}")}},
}

// guardedFlows are instances that admission admits; all but Absent it decides.
func guardedFlows(o *offering.Offer) map[string]env.InstanceEdit {
	return map[string]env.InstanceEdit{
		"Type": env.OfType("type"), "Class": all(env.OfPlan("class", ""), env.WithSelector(map[string]string{"offer": "plan"})), "Plan": env.OfPlan("class", "plan"),
		"Selector": env.WithSelector(map[string]string{"offer": "plan"}), "Absent": all(env.OfType("type"), env.OfPlan("absent", "absent")),
		"Restored": all(withRefs(o.Class, o.Plan), env.WithExternalID),
	}
}

// all makes several edits one.
func all(edits ...env.InstanceEdit) env.InstanceEdit {
	return func(i *api.ServiceInstance) {
		for _, e := range edits {
			e(i)
		}
	}
}

func withRefs(class, plan string) env.InstanceEdit {
	return func(i *api.ServiceInstance) {
		i.Spec.ClusterServiceClassRef = &api.ClusterObjectReference{Name: class}
		i.Spec.ClusterServicePlanRef = &api.ClusterObjectReference{Name: plan}
	}
}

func withLocalRefs(class, plan string) env.InstanceEdit {
	return func(i *api.ServiceInstance) {
		i.Spec.ServiceClassRef = &api.LocalObjectReference{Name: class}
		i.Spec.ServicePlanRef = &api.LocalObjectReference{Name: plan}
	}
}

func withApplied(applied string) env.InstanceEdit {
	return func(i *api.ServiceInstance) {
		i.Annotations = map[string]string{api.AnnotationAppliedDefaults: applied}
	}
}
