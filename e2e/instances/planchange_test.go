package instances_test

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
	"github.com/defaultplan/defaultplan/e2e/env"
	"github.com/defaultplan/defaultplan/e2e/offering"
)

// A planChange is a row of DESIGN.md section 4's table for what a write asks to
// be different: a merge patch that bob sends. In the patch, names such as @plan
// are the offer's names, and CLASS and PLAN begin the names of the scope's
// fields.
type planChange struct {
	reason  string
	created env.InstanceEdit
	// edits change the offer.
	offered func(*env.Class, *env.Plan, *env.Plan)
	patch   string
	// changes is what an accepted patch changes beside user and generation.
	changes func(*offering.Offer, *env.Holding)
	// refused is in the message of a refusal, and field among its fields.
	refused, field string
}

// changeOf makes the change of a row, and checks what it comes to.
func changeOf(o *offering.Offer, row planChange) {
	o.Helper()
	o.As(env.Alice).CreateInstance("db", o.Named(row.created))
	o.Patch(o.Instance("db"), `{}`)
	before := o.Stored("db")
	require.Equal(o, o.Ref(o.Plan), o.Holding(before).Plan)
	o.TurnDefault()

	err := o.As(env.Bob).Client().Patch(o.Context(), o.Instance("db"), client.RawPatch(types.MergePatchType, []byte(worded(o, row.patch))))
	if row.refused != "" {
		refusedOf(o, err, row)
		assert.Empty(o, cmp.Diff(before, o.Stored("db")), "a refused write changes nothing: %s", row.reason)
		return
	}
	require.NoError(o, err, row.reason)
	want := o.Holding(before)
	want.User, want.Generation = env.Bob, want.Generation+1
	row.changes(o, &want)
	assertHolding(o.Env, want, row.reason)
}

// worded is the patch with the scope's fields and the offer's names.
func worded(o *offering.Offer, patch string) string {
	return o.Fill(o.Fields(patch))
}

func refusedOf(o *offering.Offer, err error, row planChange) {
	o.Helper()
	var status apierrors.APIStatus
	require.ErrorAs(o, err, &status, row.reason)
	said := status.Status()
	assert.Equal(o, int32(http.StatusUnprocessableEntity), said.Code, "%s: %s", row.reason, said.Message)
	assert.Equal(o, "Invalid", string(said.Reason), row.reason)
	assert.Contains(o, said.Message, worded(o, row.refused), row.reason)
	var fields []string
	require.NotNil(o, said.Details)
	for _, cause := range said.Details.Causes {
		fields = append(fields, cause.Field)
	}
	assert.Contains(o, fields, worded(o, row.field), "%s: %s", row.reason, said.Message)
}

func playChanges(t *testing.T, rows map[string]planChange) {
	t.Helper()
	for _, scope := range []offering.Scope{offering.Cluster, offering.Namespace} {
		for name, row := range rows {
			t.Run(scope.Title+"/"+name, func(t *testing.T) {
				t.Parallel()
				e := env.New(t)
				if row.offered == nil {
					changeOf(offering.New(e, scope), row)
					return
				}
				changeOf(offering.New(e, scope, row.offered), row)
			})
		}
	}
}

// toOther says that the plan is the other one now, and that it was named.
func toOther(o *offering.Offer, h *env.Holding) {
	h.Plan = o.Ref(o.Other)
	h.Applied.Rule, h.Applied.Class, h.Applied.Plan = "named", o.Class, o.Other
	label := api.LabelClusterServicePlanRefName
	if o.Namespaced {
		label = api.LabelServicePlanRefName
	}
	h.Hashed[label] = api.HashLabelValue(o.Other)
}

func fixed(c *env.Class, _, _ *env.Plan) { c.FixedPlan = true }

// TestPlanChangesByName is the table's second row: another name, or another kind
// of name, is followed, and no default is applied again.
func TestPlanChangesByName(t *testing.T) {
	t.Parallel()
	playChanges(t, map[string]planChange{
		"ExternalNameAlone": {
			reason: "a plan's name alone is looked up in the decided class", created: env.OfType("type"),
			patch: `{"spec":{"PLANExternalName":"@other"}}`,
			changes: func(o *offering.Offer, h *env.Holding) {
				toOther(o, h)
				*planNameOf(o.Scope, h) = o.Other
			},
		},
		"OfAPlanThatMayBeLeft": {
			reason: "the plan's word is before its class's", created: env.OfType("type"), patch: `{"spec":{"PLANExternalName":"@other"}}`,
			offered: func(c *env.Class, p, _ *env.Plan) { c.FixedPlan, p.Updatable = true, new(true) },
			changes: func(o *offering.Offer, h *env.Holding) {
				toOther(o, h)
				*planNameOf(o.Scope, h) = o.Other
			},
		},
		"KubernetesNameAlone": {
			reason: "by each kind of name", created: env.OfType("type"), patch: `{"spec":{"PLANName":"@other"}}`,
			changes: func(o *offering.Offer, h *env.Holding) {
				toOther(o, h)
				if o.Namespaced {
					h.Names.ServicePlanName = o.Other
					return
				}
				h.Names.ClusterServicePlanName = o.Other
			},
		},
		"OfNamedClass": {
			reason: "another plan of the class that was named", created: namedPlan,
			patch: `{"spec":{"PLANExternalName":"@other","parameters":{"size":2}}}`,
			changes: func(o *offering.Offer, h *env.Holding) {
				toOther(o, h)
				*planNameOf(o.Scope, h), h.Parameters = o.Other, `{"backup":true,"pool":{"mode":"cold"},"size":2}`
			},
		},
		"OfSelected": {
			reason: "who names a plan where a selector is stored clears it", created: env.WithSelector(map[string]string{"offer": "plan"}),
			patch: `{"spec":{"planSelector":{"matchLabels":null},"PLANExternalName":"@other"}}`,
			changes: func(o *offering.Offer, h *env.Holding) {
				toOther(o, h)
				*planNameOf(o.Scope, h), h.Selector = o.Other, "{}"
			},
		},
		"SamePlanByAnotherName": {
			reason: "the same plan by its Kubernetes name is the same plan, even where plans are fixed", created: namedPlan, offered: fixed,
			patch: `{"spec":{"PLANExternalName":null,"PLANName":"@plan"}}`,
			changes: func(o *offering.Offer, h *env.Holding) {
				*planNameOf(o.Scope, h) = ""
				if o.Namespaced {
					h.Names.ServicePlanName = o.Plan
					return
				}
				h.Names.ClusterServicePlanName = o.Plan
			},
		},
		"SameClassByAnotherName": {
			reason: "the same class by its Kubernetes name is the same class", created: namedPlan, offered: fixed,
			patch: `{"spec":{"CLASSExternalName":null,"CLASSName":"@class"}}`,
			changes: func(o *offering.Offer, h *env.Holding) {
				if o.Namespaced {
					h.Names.ServiceClassExternalName, h.Names.ServiceClassName = "", o.Class
					return
				}
				h.Names.ClusterServiceClassExternalName, h.Names.ClusterServiceClassName = "", o.Class
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
			reason: "its class fixes the plan", created: env.OfType("type"), offered: fixed,
			patch: `{"spec":{"PLANExternalName":"@other"}}`, refused: `class "@class" does not allow an instance to change its plan`, field: "spec",
		},
		"PlanThatIsFixed": {
			reason: "the plan fixes itself", created: env.OfType("type"), offered: func(_ *env.Class, p, _ *env.Plan) { p.Updatable = new(false) },
			patch: `{"spec":{"PLANExternalName":"@other"}}`, refused: `plan @class/@plan does not allow an instance to change its plan`, field: "spec",
		},
		"AnotherClass": {
			reason: "another class is another service", created: namedPlan,
			patch: `{"spec":{"CLASSExternalName":"@foreign","PLANExternalName":"@distant"}}`, refused: "the class cannot change", field: "spec",
		},
		"AnotherClassOfAnotherType": {
			reason: "all the more if it is of another type", created: env.OfType("type"),
			patch: `{"spec":{"CLASSExternalName":"@foreign","PLANExternalName":"@distant"}}`, refused: "is of another type", field: "spec.serviceType",
		},
		"AnotherClassAlone": {
			reason: "also where the plan that was named is not of it", created: namedPlan,
			patch: `{"spec":{"CLASSExternalName":"@foreign"}}`, refused: "the class cannot change", field: "spec",
		},
		"PlanOfAnotherClass": {
			reason: "a plan is looked up in the decided class only", created: env.OfType("type"),
			patch: `{"spec":{"PLANExternalName":"@distant"}}`, refused: "@distant", field: "spec.PLANExternalName",
		},
		"PlanRef": {
			reason: "a reference is not a wish", created: env.OfType("type"),
			patch: `{"spec":{"PLANRef":{"name":"@other"}}}`, refused: "it is decided at admission and cannot be edited", field: "spec.PLANRef",
		},
		"ClassRef": {
			reason: "a reference is not a wish", created: env.OfType("type"),
			patch: `{"spec":{"CLASSRef":{"name":"@foreign"}}}`, refused: "it is decided at admission and cannot be edited", field: "spec.CLASSRef",
		},
		"Type": {
			reason: "the type is decided", created: env.OfType("type"),
			patch: `{"spec":{"serviceType":"@strange"}}`, refused: "serviceType", field: "spec.serviceType",
		},
		"Selector": {
			reason: "the selector was answered", created: env.WithSelector(map[string]string{"offer": "plan"}),
			patch: `{"spec":{"planSelector":{"matchLabels":{"offer":"@other"}}}}`, refused: "it cannot change", field: "spec.planSelector",
		},
		"SelectorAfterwards": {
			reason: "no selector is answered later", created: env.OfType("type"),
			patch: `{"spec":{"planSelector":{"matchLabels":{"offer":"@other"}}}}`, refused: "it cannot change", field: "spec.planSelector",
		},
		"ExternalID": {
			reason: "it is the instance's identity at its broker", created: env.OfType("type"),
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
func namedPlan(i *api.ServiceInstance) { env.OfPlan("class", "plan")(i) }

// planNameOf is where the scope names a plan by external name.
func planNameOf(s offering.Scope, h *env.Holding) *string {
	if s.Namespaced {
		return &h.Names.ServicePlanExternalName
	}
	return &h.Names.ClusterServicePlanExternalName
}
