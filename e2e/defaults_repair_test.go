package e2e_test

import (
	"context"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/e2e/stack"
)

// TestDefaultsAreRepaired: what was stored past the hooks while no keeper ran comes
// to one default.
func TestDefaultsAreRepaired(t *testing.T) {
	t.Parallel()
	s := startStack(t, func(o *stack.Options) { o.WebhookArgs = []string{"--keeper=off"} })
	keeper, err := s.StartKeeper(t.Context())
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, keeper.Stop(context.Background(), syscall.SIGTERM)) })
	offers := map[string]*offer{}
	for name := range repairCases {
		offers[name] = newOffer(newWorldOn(t, s), clusterScope)
		offers[name].comesTo("type=plan strange= plan*", "the first default is recorded")
	}
	require.NoError(t, keeper.Stop(t.Context(), syscall.SIGTERM))
	require.NoError(t, s.UninstallHooks(t.Context()))
	for name, tc := range repairCases {
		o := offers[name]
		if tc.record != "" {
			o.patch(o.typeOf(o.kind), o.fill(tc.record))
		}
		for plan, patch := range map[string]string{o.plan: tc.plan, o.other: tc.other} {
			if patch != "" {
				o.patch(o.objectOf(plan), patch)
			}
		}
	}
	require.NoError(t, s.InstallHooks(t.Context()))
	require.NoError(t, keeper.Start(t.Context()))
	for name, tc := range repairCases {
		offers[name].comesTo(tc.want, name+": "+tc.reason)
		offers[name].gives(offers[name].kind, tc.gives)
	}
}

// repairCases are what is stored of an offer whose first plan is the default:
// patches of the type and of both plans.
var repairCases = map[string]struct {
	reason              string
	record, plan, other string
	want, gives         string
}{
	"Moved":           {reason: "an annotation that is taken off clears the record, and the other one counts", plan: patchOff, other: patchOn, want: "type=other strange= other*", gives: "other"},
	"Added":           {reason: "beside a record it counts for nothing", other: patchOn, want: "type=plan strange= plan*", gives: "plan"},
	"TakenOff":        {reason: "as if the keeper had seen it", plan: patchOff, want: "type= strange="},
	"Switched":        {reason: "as if the keeper had seen it", record: recordOf("@other"), want: "type=other strange= other*", gives: "other"},
	"SwitchedAndOff":  {reason: "whoever switched died then", record: recordOf("@other"), plan: patchOff, want: "type=other strange= other*", gives: "other"},
	"SwitchedAndOn":   {reason: "whoever switched died then", record: recordOf("@other"), other: patchOn, want: "type=other strange= other*", gives: "other"},
	"Absent":          {reason: "a record of nothing gives way", record: recordOf("absent"), want: "type=plan strange= plan*", gives: "plan"},
	"AbsentAndOff":    {reason: "a record of nothing is cleared", record: recordOf("absent"), plan: patchOff, want: "type= strange="},
	"AbsentAndMoved":  {reason: "a record of nothing gives way", record: recordOf("absent"), plan: patchOff, other: patchOn, want: "type=other strange= other*", gives: "other"},
	"Foreign":         {reason: "a record of another type's plan gives way", record: recordOf("@distant"), want: "type=plan strange= plan*", gives: "plan"},
	"ForeignAndOff":   {reason: "a record of another type's plan is cleared", record: recordOf("@distant"), plan: patchOff, want: "type= strange="},
	"Forgotten":       {reason: "what is annotated is recorded", record: `{"spec":{"defaultPlanRef":null}}`, want: "type=plan strange= plan*", gives: "plan"},
	"ForgottenOfTwo":  {reason: "the first that was annotated is", record: `{"spec":{"defaultPlanRef":null}}`, other: patchOn, want: "type=plan strange= plan*", gives: "plan"},
	"ForgottenAndOff": {reason: "there is none", record: `{"spec":{"defaultPlanRef":null}}`, plan: patchOff, want: "type= strange="},
}

// TestALegacyClusterIsItsOperators: two plans of a type are annotated since before
// there was anything of ours. Which of them is meant only the operator knows.
func TestALegacyClusterIsItsOperators(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	old := startStack(t, func(o *stack.Options) { o.Dir, o.Webhooks = dir, 0 })
	two := func(_ *class, _, other *plan) { other.isDefault = true }
	offers := map[string]*offer{
		"Recorded":            newOffer(newWorldOn(t, old), clusterScope, two),
		"TakenOff":            newOffer(newWorldOn(t, old), clusterScope, two),
		"RecordedOfNamespace": newOffer(newWorldOn(t, old), namespaceScope, two),
		"TakenOffOfNamespace": newOffer(newWorldOn(t, old), namespaceScope, two),
	}
	single := newOffer(newWorldOn(t, old), clusterScope)
	require.NoError(t, old.Stop())

	s := startStack(t, func(o *stack.Options) { o.Dir = dir })
	single.movesTo(s)
	single.comesTo("type=plan strange= plan*", "one is no question")
	for name, o := range offers {
		o.movesTo(s)
		ambiguous := o.waitsForItsOperator()
		assert.Contains(t, ambiguous.Message, o.plan, name)
		assert.Contains(t, ambiguous.Message, o.other, name)
		o.comesTo("type= strange= other* plan*", "nobody chooses for the operator")
		refused := o.client.Create(t.Context(), o.instance("db", ofType(o.kind)))
		requireInvalid(t, refused, o.plan)
		requireInvalid(t, refused, o.other)
		third := plan{namespace: o.at(), name: o.name("third"), class: o.class, isDefault: true}
		o.isRefused(o.client.Create(t.Context(), third.object()), "other", "none is recorded")
	}

	for _, name := range []string{"Recorded", "RecordedOfNamespace"} {
		offers[name].records(offers[name].kind, offers[name].other)
	}
	for _, name := range []string{"TakenOff", "TakenOffOfNamespace"} {
		offers[name].patch(offers[name].objectOf(offers[name].plan), patchOff)
	}
	for name, o := range offers {
		o.comesTo("type=other strange= other*", name+" settles it")
		o.gives(o.kind, "other")
	}
}

// movesTo is the same offer on another stack with the same data.
func (o *offer) movesTo(s *stack.Stack) {
	o.Stack = s
	o.client, o.warnings = o.clientFor(s.RESTConfig())
}

// waitsForItsOperator waits until the type says that it is ambiguous.
func (o *offer) waitsForItsOperator() api.Condition {
	o.Helper()
	var said api.Condition
	o.eventually(func() (bool, error) {
		kept := o.typeOf(o.kind)
		if err := o.client.Get(o.Context(), client.ObjectKeyFromObject(kept), kept); err != nil {
			return false, err
		}
		said = ambiguity(kept)
		return said.Status == api.ConditionTrue, nil
	})
	return said
}
