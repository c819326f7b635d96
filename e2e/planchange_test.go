package e2e_test

import (
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
)

// A planChange is a row of DESIGN.md section 4's table for what a write asks to
// be different: a merge patch that bob sends. In the patch, @plan and the like
// are the offer's names, and CLASS and PLAN begin the names of the scope's
// fields.
type planChange struct {
	reason  string
	created edit
	// edits change the offer.
	offered func(*class, *plan, *plan)
	patch   string
	// changes is what an accepted patch changes beside user and generation.
	changes func(*offer, *holding)
	// refused is in the message of a refusal, and field among its fields.
	refused, field string
}

func (o *offer) change(row planChange) {
	o.Helper()
	o.as(alice).createInstance("db", o.named(row.created))
	o.patch(o.instance("db"), `{}`)
	before := o.stored("db")
	require.Equal(o, o.ref(o.plan), o.holding(before).Plan)
	o.turnDefault()

	err := o.as(bob).client.Patch(o.Context(), o.instance("db"), client.RawPatch(types.MergePatchType, []byte(o.worded(row.patch))))
	if row.refused != "" {
		o.refusedOf(err, row)
		assert.Empty(o, cmp.Diff(before, o.stored("db")), "a refused write changes nothing: %s", row.reason)
		return
	}
	require.NoError(o, err, row.reason)
	want := o.holding(before)
	want.User, want.Generation = bob, want.Generation+1
	row.changes(o, &want)
	o.holds(want, row.reason)
}

// worded is the patch with the scope's fields and the offer's names.
func (o *offer) worded(patch string) string {
	return o.fill(o.fields(patch))
}

func (o *offer) refusedOf(err error, row planChange) {
	o.Helper()
	var status apierrors.APIStatus
	require.ErrorAs(o, err, &status, row.reason)
	said := status.Status()
	assert.Equal(o, int32(http.StatusUnprocessableEntity), said.Code, "%s: %s", row.reason, said.Message)
	assert.Equal(o, "Invalid", string(said.Reason), row.reason)
	assert.Contains(o, said.Message, o.worded(row.refused), row.reason)
	var fields []string
	require.NotNil(o, said.Details)
	for _, cause := range said.Details.Causes {
		fields = append(fields, cause.Field)
	}
	assert.Contains(o, fields, o.worded(row.field), "%s: %s", row.reason, said.Message)
}

func playChanges(t *testing.T, rows map[string]planChange) {
	t.Helper()
	for _, scope := range []scope{clusterScope, namespaceScope} {
		for name, row := range rows {
			t.Run(scope.title+"/"+name, func(t *testing.T) {
				t.Parallel()
				w := newWorld(t)
				if row.offered == nil {
					newOffer(w, scope).change(row)
					return
				}
				newOffer(w, scope, row.offered).change(row)
			})
		}
	}
}

// toOther says that the plan is the other one now.
func toOther(o *offer, h *holding) {
	h.Plan = o.ref(o.other)
	label := api.LabelClusterServicePlanRefName
	if o.namespaced {
		label = api.LabelServicePlanRefName
	}
	h.Hashed[label] = hashOf(o.other)
}

func fixed(c *class, _, _ *plan) { c.fixedPlan = true }

// TestPlanChangesByName is the table's second row: another name, or another kind
// of name, is followed, and no default is applied again.
func TestPlanChangesByName(t *testing.T) {
	t.Parallel()
	playChanges(t, map[string]planChange{
		"ExternalNameAlone": {
			reason: "a plan's name alone is looked up in the decided class", created: ofType("type"),
			patch: `{"spec":{"PLANExternalName":"@other"}}`,
			changes: func(o *offer, h *holding) {
				toOther(o, h)
				*o.planName(h) = o.other
			},
		},
		"OfAPlanThatMayBeLeft": {
			reason: "the plan's word is before its class's", created: ofType("type"), patch: `{"spec":{"PLANExternalName":"@other"}}`,
			offered: func(c *class, p, _ *plan) { c.fixedPlan, p.updatable = true, new(true) },
			changes: func(o *offer, h *holding) {
				toOther(o, h)
				*o.planName(h) = o.other
			},
		},
		"KubernetesNameAlone": {
			reason: "by each kind of name", created: ofType("type"), patch: `{"spec":{"PLANName":"@other"}}`,
			changes: func(o *offer, h *holding) {
				toOther(o, h)
				if o.namespaced {
					h.Names.ServicePlanName = o.other
					return
				}
				h.Names.ClusterServicePlanName = o.other
			},
		},
		"OfNamedClass": {
			reason: "another plan of the class that was named", created: namedPlan,
			patch: `{"spec":{"PLANExternalName":"@other","parameters":{"size":2}}}`,
			changes: func(o *offer, h *holding) {
				toOther(o, h)
				*o.planName(h), h.Parameters = o.other, `{"backup":true,"pool":{"mode":"cold"},"size":2}`
			},
		},
		"OfSelected": {
			reason: "who names a plan where a selector is stored clears it", created: withSelector(map[string]string{"offer": "plan"}),
			patch: `{"spec":{"planSelector":{"matchLabels":null},"PLANExternalName":"@other"}}`,
			changes: func(o *offer, h *holding) {
				toOther(o, h)
				*o.planName(h), h.Selector = o.other, "{}"
			},
		},
		"SamePlanByAnotherName": {
			reason: "the same plan by its Kubernetes name is the same plan, even where plans are fixed", created: namedPlan, offered: fixed,
			patch: `{"spec":{"PLANExternalName":null,"PLANName":"@plan"}}`,
			changes: func(o *offer, h *holding) {
				*o.planName(h) = ""
				if o.namespaced {
					h.Names.ServicePlanName = o.plan
					return
				}
				h.Names.ClusterServicePlanName = o.plan
			},
		},
		"SameClassByAnotherName": {
			reason: "the same class by its Kubernetes name is the same class", created: namedPlan, offered: fixed,
			patch: `{"spec":{"CLASSExternalName":null,"CLASSName":"@class"}}`,
			changes: func(o *offer, h *holding) {
				if o.namespaced {
					h.Names.ServiceClassExternalName, h.Names.ServiceClassName = "", o.class
					return
				}
				h.Names.ClusterServiceClassExternalName, h.Names.ClusterServiceClassName = "", o.class
			},
		},
	})
}

// TestWhatIsDecidedCannotChange is the table's third row, and what is not
// updatable of the second.
func TestWhatIsDecidedCannotChange(t *testing.T) {
	t.Parallel()
	counted := func(i *api.ServiceInstance) { i.Spec.ServiceType, i.Spec.UpdateRequests = "type", 2 }
	playChanges(t, map[string]planChange{
		"PlanWhereFixed": {
			reason: "its class fixes the plan", created: ofType("type"), offered: fixed,
			patch: `{"spec":{"PLANExternalName":"@other"}}`, refused: `class "@class" does not allow an instance to change its plan`, field: "spec",
		},
		"PlanThatIsFixed": {
			reason: "the plan fixes itself", created: ofType("type"), offered: func(_ *class, p, _ *plan) { p.updatable = new(false) },
			patch: `{"spec":{"PLANExternalName":"@other"}}`, refused: `plan @class/@plan does not allow an instance to change its plan`, field: "spec",
		},
		"AnotherClass": {
			reason: "another class is another service", created: namedPlan,
			patch: `{"spec":{"CLASSExternalName":"@foreign","PLANExternalName":"@distant"}}`, refused: "the class cannot change", field: "spec",
		},
		"AnotherClassOfAnotherType": {
			reason: "all the more if it is of another type", created: ofType("type"),
			patch: `{"spec":{"CLASSExternalName":"@foreign","PLANExternalName":"@distant"}}`, refused: "is of another type", field: "spec.serviceType",
		},
		"AnotherClassAlone": {
			reason: "also where the plan that was named is not of it", created: namedPlan,
			patch: `{"spec":{"CLASSExternalName":"@foreign"}}`, refused: "the class cannot change", field: "spec",
		},
		"PlanOfAnotherClass": {
			reason: "a plan is looked up in the decided class only", created: ofType("type"),
			patch: `{"spec":{"PLANExternalName":"@distant"}}`, refused: "@distant", field: "spec.PLANExternalName",
		},
		"PlanRef": {
			reason: "a reference is not a wish", created: ofType("type"),
			patch: `{"spec":{"PLANRef":{"name":"@other"}}}`, refused: "it is decided at admission and cannot be edited", field: "spec.PLANRef",
		},
		"ClassRef": {
			reason: "a reference is not a wish", created: ofType("type"),
			patch: `{"spec":{"CLASSRef":{"name":"@foreign"}}}`, refused: "it is decided at admission and cannot be edited", field: "spec.CLASSRef",
		},
		"Type": {
			reason: "the type is decided", created: ofType("type"),
			patch: `{"spec":{"serviceType":"@strange"}}`, refused: "serviceType", field: "spec.serviceType",
		},
		"Selector": {
			reason: "the selector was answered", created: withSelector(map[string]string{"offer": "plan"}),
			patch: `{"spec":{"planSelector":{"matchLabels":{"offer":"@other"}}}}`, refused: "it cannot change", field: "spec.planSelector",
		},
		"SelectorAfterwards": {
			reason: "no selector is answered later", created: ofType("type"),
			patch: `{"spec":{"planSelector":{"matchLabels":{"offer":"@other"}}}}`, refused: "it cannot change", field: "spec.planSelector",
		},
		"ExternalID": {
			reason: "it is the instance's identity at its broker", created: ofType("type"),
			patch: `{"spec":{"externalID":"another"}}`, refused: "externalID", field: "spec.externalID",
		},
		"UpdateRequestsBack": {
			reason: "it counts", created: counted,
			patch: `{"spec":{"updateRequests":1}}`, refused: "cannot go back from 2 to 1", field: "spec.updateRequests",
		},
	})
}

// namedPlan names class and plan in the cluster; the offer turns it into its
// scope.
func namedPlan(i *api.ServiceInstance) { ofPlan("class", "plan")(i) }
