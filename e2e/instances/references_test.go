package instances_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/e2e/env"
	"github.com/defaultplan/defaultplan/e2e/offering"
)

// A backup is an instance that is created with references in it.
type backup struct {
	reason string
	// refs are the words of the class and the plan that are referred to.
	class, plan string
	edits       []env.InstanceEdit
	// refused is in the message of a refusal; empty: it is taken as decided.
	refused, field string
}

func withRecord(i *api.ServiceInstance) {
	i.Annotations = map[string]string{
		api.AnnotationAppliedDefaults:  `{"rule":"selector","class":"forged","plan":"forged","from":{"/size":"class"},"removed":["/a"]}`,
		api.AnnotationMintedExternalID: "forged",
	}
}

// TestInstanceCreatedWithReferences tells of backups and of objects of the
// retired catalog: they are taken as decided if they can be believed.
func TestInstanceCreatedWithReferences(t *testing.T) {
	t.Parallel()
	sized := env.WithParameters(`{"size":1}`)
	cases := map[string]backup{
		"WithRecord":       {reason: "a backup of ours", class: "class", plan: "plan", edits: []env.InstanceEdit{env.OfType("type"), sized, withRecord}},
		"WithExternalID":   {reason: "an object of the retired catalog", class: "class", plan: "plan", edits: []env.InstanceEdit{namedPlan, sized, env.WithExternalID}},
		"WithBoth":         {reason: "a backup of an instance that came from there", class: "class", plan: "plan", edits: []env.InstanceEdit{namedPlan, sized, withRecord, env.WithExternalID}},
		"NotTheDefault":    {reason: "what was decided then counts, not what is the default now", class: "class", plan: "other", edits: []env.InstanceEdit{env.OfType("type"), sized, withRecord}},
		"WithNeither":      {reason: "references are not a wish", class: "class", plan: "plan", edits: []env.InstanceEdit{env.OfType("type")}, refused: "it is decided at admission", field: "spec.CLASSRef"},
		"PlanAbsent":       {reason: "they must lead somewhere", class: "class", plan: "absent", edits: []env.InstanceEdit{env.OfType("type"), withRecord}, refused: "there is no plan", field: "spec.PLANRef"},
		"ClassAbsent":      {reason: "both of them", class: "absent", plan: "plan", edits: []env.InstanceEdit{env.OfType("type"), withRecord}, refused: "is of class", field: "spec.CLASSRef"},
		"OtherClass":       {reason: "and to the same service", class: "foreign", plan: "plan", edits: []env.InstanceEdit{env.OfType("type"), env.WithExternalID}, refused: "is of class", field: "spec.CLASSRef"},
		"OtherName":        {reason: "that the names say too", class: "class", plan: "other", edits: []env.InstanceEdit{namedPlan, env.WithExternalID}, refused: "is not what the references lead to", field: "spec.PLANExternalName"},
		"OtherType":        {reason: "and the type", class: "class", plan: "plan", edits: []env.InstanceEdit{env.OfType("strange"), env.WithExternalID}, refused: "is of type", field: "spec.serviceType"},
		"PlanWithoutClass": {reason: "a plan alone is half a decision", plan: "plan", edits: []env.InstanceEdit{env.OfType("type"), withRecord}, refused: "must be present beside", field: "spec.CLASSRef"},
		"ClassWithoutPlan": {reason: "so is a class alone", class: "class", edits: []env.InstanceEdit{env.OfType("type"), withRecord}, refused: "must be present beside", field: "spec.PLANRef"},
	}
	for _, scope := range []offering.Scope{offering.Cluster, offering.Namespace} {
		for name, tc := range cases {
			t.Run(scope.Title+"/"+name, func(t *testing.T) {
				t.Parallel()
				bringBack(offering.New(env.New(t), scope), tc)
			})
		}
	}
}

func bringBack(o *offering.Offer, b backup) {
	o.Helper()
	instance := o.Instance("db")
	for _, edit := range b.edits {
		o.Named(edit)(instance)
	}
	refer(o, instance, b.class, b.plan)
	given := *instance.DeepCopy()
	theirs := o.As(env.Bob)
	if given.Spec.ExternalID != "" {
		mayAdopt(o.Env, env.Bob)
	}
	err := theirs.Client().Create(o.Context(), instance)
	if b.refused != "" {
		refusedOf(o, err, planChange{reason: b.reason, refused: b.refused, field: b.field})
		return
	}
	require.NoError(o, err, b.reason)
	got := o.HoldingOf("db")
	assert.Equal(o, o.Ref(o.Name(b.class)), got.Class, b.reason)
	assert.Equal(o, o.Ref(o.Name(b.plan)), got.Plan, b.reason)
	assert.Equal(o, `{"size":1}`, got.Parameters, "nothing is merged")
	assert.Equal(o, env.Bob, got.User, "who brings it back asks")
	want := api.AppliedDefaults{Rule: "restored", Class: o.Class, Plan: o.Name(b.plan)}
	if given.Annotations != nil {
		want.From, want.Removed = map[string]string{"/size": "class"}, []string{"/a"}
	}
	assert.Equal(o, want, got.Applied, b.reason)
	broughtIdentity(o, &given, got)
	heard := theirs.Warnings.Take()
	require.Len(o, heard, 1, b.reason)
	assert.Contains(o, heard[0], "taken as decided: plan "+o.Class+"/"+o.Name(b.plan))
}

// broughtIdentity asserts that an ID that came with the object is not taken for
// one that was minted for it.
func broughtIdentity(o *offering.Offer, given *api.ServiceInstance, got env.Holding) {
	o.Helper()
	if given.Spec.ExternalID != "" {
		assert.Equal(o, given.Spec.ExternalID, got.ExternalID)
		assert.Empty(o, got.Minted, "an ID that a user brings is never mitigated")
		return
	}
	assert.NotEmpty(o, got.ExternalID)
	assert.Equal(o, got.ExternalID, got.Minted, "a forged marker is replaced")
}

// refer sets the references of the offer's scope to the names of words; an empty
// word is no reference.
func refer(o *offering.Offer, i *api.ServiceInstance, class, plan string) {
	if o.Namespaced {
		if class != "" {
			i.Spec.ServiceClassRef = &api.LocalObjectReference{Name: o.Name(class)}
		}
		if plan != "" {
			i.Spec.ServicePlanRef = &api.LocalObjectReference{Name: o.Name(plan)}
		}
		return
	}
	if class != "" {
		i.Spec.ClusterServiceClassRef = &api.ClusterObjectReference{Name: o.Name(class)}
	}
	if plan != "" {
		i.Spec.ClusterServicePlanRef = &api.ClusterObjectReference{Name: o.Name(plan)}
	}
}

// TestReferencesOfBothScopesAreRefused tells of an instance that says it was
// decided twice.
func TestReferencesOfBothScopesAreRefused(t *testing.T) {
	t.Parallel()
	o := offering.New(env.New(t), offering.Cluster)
	instance := o.Instance("db", env.OfType(o.Type), env.WithExternalID)
	refer(o, instance, "class", "plan")
	instance.Spec.ServiceClassRef = &api.LocalObjectReference{Name: "any"}
	instance.Spec.ServicePlanRef = &api.LocalObjectReference{Name: "any"}
	err := o.Client().Create(t.Context(), instance)
	var status apierrors.APIStatus
	require.ErrorAs(t, err, &status)
	assert.Equal(t, int32(http.StatusUnprocessableEntity), status.Status().Code)
	assert.Equal(t, metav1.StatusReasonInvalid, status.Status().Reason)
}
