package defaults_test

import (
	"context"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/e2e/env"
	"github.com/defaultplan/defaultplan/e2e/offering"
	"github.com/defaultplan/defaultplan/e2e/stack"
	"github.com/defaultplan/defaultplan/e2e/stack/suite"
)

// TestDefaultsAreRepaired: what was stored past the hooks while no keeper ran comes
// to one default.
func TestDefaultsAreRepaired(t *testing.T) {
	t.Parallel()
	s := suite.New(t, stack.Options{Webhooks: 1, WebhookArgs: []string{"--keeper=off"}, Releaser: true})
	keeper, err := s.StartKeeper(t.Context())
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, keeper.Stop(context.Background(), syscall.SIGTERM)) })
	offers := map[string]*offering.Offer{}
	for name := range repairCases {
		offers[name] = offering.New(env.On(t, s), offering.Cluster)
		offers[name].ComesTo("type=plan strange= plan*", "the first default is recorded")
	}
	require.NoError(t, keeper.Stop(t.Context(), syscall.SIGTERM))
	require.NoError(t, s.UninstallHooks(t.Context()))
	for name, tc := range repairCases {
		o := offers[name]
		if tc.record != "" {
			o.Patch(o.TypeObject(o.Type), o.Fill(tc.record))
		}
		for plan, patch := range map[string]string{o.Plan: tc.plan, o.Other: tc.other} {
			if patch != "" {
				o.Patch(o.PlanObject(plan), patch)
			}
		}
	}
	require.NoError(t, s.InstallHooks(t.Context()))
	require.NoError(t, keeper.Start(t.Context()))
	for name, tc := range repairCases {
		offers[name].ComesTo(tc.want, name+": "+tc.reason)
		offers[name].Gives(offers[name].Type, tc.gives)
	}
}

// repairCases are what is stored of an offer whose first plan is the default:
// patches of the type and of both plans.
var repairCases = map[string]struct {
	reason              string
	record, plan, other string
	want, gives         string
}{
	"Moved":           {reason: "an annotation that is taken off clears the record, and the other one counts", plan: offering.PatchOff, other: offering.PatchOn, want: "type=other strange= other*", gives: "other"},
	"Added":           {reason: "beside a record it counts for nothing", other: offering.PatchOn, want: "type=plan strange= plan*", gives: "plan"},
	"TakenOff":        {reason: "as if the keeper had seen it", plan: offering.PatchOff, want: "type= strange="},
	"Switched":        {reason: "as if the keeper had seen it", record: offering.RecordOf("@other"), want: "type=other strange= other*", gives: "other"},
	"SwitchedAndOff":  {reason: "the client died during the switch", record: offering.RecordOf("@other"), plan: offering.PatchOff, want: "type=other strange= other*", gives: "other"},
	"SwitchedAndOn":   {reason: "the client died during the switch", record: offering.RecordOf("@other"), other: offering.PatchOn, want: "type=other strange= other*", gives: "other"},
	"Absent":          {reason: "a record of nothing gives way", record: offering.RecordOf("absent"), want: "type=plan strange= plan*", gives: "plan"},
	"AbsentAndOff":    {reason: "a record of nothing is cleared", record: offering.RecordOf("absent"), plan: offering.PatchOff, want: "type= strange="},
	"AbsentAndMoved":  {reason: "a record of nothing gives way", record: offering.RecordOf("absent"), plan: offering.PatchOff, other: offering.PatchOn, want: "type=other strange= other*", gives: "other"},
	"Foreign":         {reason: "a record of another type's plan gives way", record: offering.RecordOf("@distant"), want: "type=plan strange= plan*", gives: "plan"},
	"ForeignAndOff":   {reason: "a record of another type's plan is cleared", record: offering.RecordOf("@distant"), plan: offering.PatchOff, want: "type= strange="},
	"Forgotten":       {reason: "what is annotated is recorded", record: `{"spec":{"defaultPlanRef":null}}`, want: "type=plan strange= plan*", gives: "plan"},
	"ForgottenOfTwo":  {reason: "the first that was annotated is", record: `{"spec":{"defaultPlanRef":null}}`, other: offering.PatchOn, want: "type=plan strange= plan*", gives: "plan"},
	"ForgottenAndOff": {reason: "there is none", record: `{"spec":{"defaultPlanRef":null}}`, plan: offering.PatchOff, want: "type= strange="},
}

// TestALegacyClusterIsItsOperators: two plans of a type are annotated since before
// there was anything of ours. Which of them is meant only the operator knows.
func TestALegacyClusterIsItsOperators(t *testing.T) {
	t.Parallel()
	dir := suite.TempDir(t)
	old := suite.New(t, stack.Options{Dir: dir, Releaser: true})
	two := func(_ *env.Class, _, other *env.Plan) { other.Default = true }
	offers := map[string]*offering.Offer{
		"Recorded":            offering.New(env.On(t, old), offering.Cluster, two),
		"TakenOff":            offering.New(env.On(t, old), offering.Cluster, two),
		"RecordedOfNamespace": offering.New(env.On(t, old), offering.Namespace, two),
		"TakenOffOfNamespace": offering.New(env.On(t, old), offering.Namespace, two),
	}
	single := offering.New(env.On(t, old), offering.Cluster)
	require.NoError(t, old.Stop())

	s := suite.New(t, stack.Options{Dir: dir, Webhooks: 1, Releaser: true})
	movesTo(single, s)
	single.ComesTo("type=plan strange= plan*", "one is no question")
	for name, o := range offers {
		movesTo(o, s)
		ambiguous := waitsForItsOperator(o)
		assert.Contains(t, ambiguous.Message, o.Plan, name)
		assert.Contains(t, ambiguous.Message, o.Other, name)
		o.ComesTo("type= strange= other* plan*", "the operator chooses")
		refused := o.Client().Create(t.Context(), o.Instance("db", env.OfType(o.Type)))
		env.RequireInvalid(t, refused, o.Plan)
		env.RequireInvalid(t, refused, o.Other)
		third := env.Plan{Namespace: o.At(), Name: o.Name("third"), Class: o.Class, Default: true}
		o.IsRefused(o.Client().Create(t.Context(), third.Object()), "other", "none is recorded")
	}

	for _, name := range []string{"Recorded", "RecordedOfNamespace"} {
		offers[name].Records(offers[name].Type, offers[name].Other)
	}
	for _, name := range []string{"TakenOff", "TakenOffOfNamespace"} {
		offers[name].Patch(offers[name].PlanObject(offers[name].Plan), offering.PatchOff)
	}
	for name, o := range offers {
		o.ComesTo("type=other strange= other*", name+" settles it")
		o.Gives(o.Type, "other")
	}
}

// movesTo is the same offer on another stack with the same data.
func movesTo(o *offering.Offer, s *stack.Stack) {
	o.Env = o.OnStack(s)
}

// waitsForItsOperator waits until the type says that it is ambiguous.
func waitsForItsOperator(o *offering.Offer) api.Condition {
	o.Helper()
	var said api.Condition
	o.Eventually(func() (bool, error) {
		kept := o.TypeObject(o.Type)
		if err := o.Client().Get(o.Context(), client.ObjectKeyFromObject(kept), kept); err != nil {
			return false, err
		}
		said = offering.Ambiguity(kept)
		return said.Status == api.ConditionTrue, nil
	})
	return said
}
