package webhook

import (
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/webhook/catalog"
)

const goldenQuotaDenials = "testdata/denials_quota.golden"

// limited adds a policy for all plans of type mysql, or those of that name, with limits
// (negative: none) and with what it granted in namespace dev.
func limited(name, plan string, instances, bindings int32, granted ...types.UID) func(*stock) {
	return func(s *stock) {
		p := &v1beta1.ProvisioningPolicy{ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID("uid-policy-" + name)}}
		p.Spec.Action, p.Spec.Message = v1beta1.PolicyLimit, "ask Ann"
		p.Spec.Subjects = []v1beta1.PolicySubject{{PlanSubject: v1beta1.PlanSubject{ServiceType: "mysql", PlanName: plan}}}
		if instances >= 0 {
			p.Spec.MaxInstances = &instances
		}
		if bindings >= 0 {
			p.Spec.MaxBindings = &bindings
		}
		if len(granted) > 0 {
			p.Status.Slots = []v1beta1.PolicySlots{{Namespace: "dev", Instances: granted, Bindings: granted}, {Namespace: "qa", Instances: []types.UID{"x", "y", "z"}}}
		}
		s.objects = append(s.objects, p)
	}
}

// A quotaCase is a new instance, or with binds a new binding, under policies with limits.
type quotaCase struct {
	reason string
	// known is what the cache has; live is nil where the API server has the same.
	known, live []func(*stock)
	spec        string
	binds       bool
	// write is a change of what was stored before there were policies.
	write string
	says  string
}

func quotaCases() map[string]quotaCase {
	const large = `{"clusterServiceClassExternalName":"db","clusterServicePlanExternalName":"large"}`
	const late = `{"clusterServiceClassExternalName":"db","clusterServicePlanExternalName":"late"}`
	const toLarge = `{"spec":{"clusterServicePlanExternalName":"large"}}`
	under := func(edits ...func(*stock)) []func(*stock) { return edits }
	full, free := under(limited("few", "", 2, -1, "a", "b")), under(limited("few", "", 2, -1, "a"))
	return map[string]quotaCase{
		"Free":           {reason: "There is one slot left.", known: free, spec: byType},
		"Full":           {reason: "There is none.", known: full, spec: byType, says: `ProvisioningPolicy "few" lets namespace "dev" have 2 instances`},
		"None":           {reason: "Nothing at all.", known: under(limited("none", "", 0, -1)), spec: byType, says: "have 0 instances"},
		"Second":         {reason: "Each of several is held to.", known: under(limited("few", "", 2, -1, "a"), limited("large", "large", 1, -1, "b")), spec: large, says: `ProvisioningPolicy "large"`},
		"OtherPlan":      {reason: "Others are not limited.", known: under(limited("large", "large", 1, -1, "b")), spec: byType},
		"OtherKind":      {reason: "Bindings are not instances.", known: under(limited("few", "", -1, 0)), spec: byType},
		"JustFreed":      {reason: "What the cache has not heard of is asked for before it is refused.", known: full, live: free, spec: byType},
		"JustTaken":      {reason: "There is no live read before it is admitted: it waits.", known: free, live: full, spec: byType},
		"JustDeleted":    {reason: "A policy that is gone denies nothing.", known: full, live: []func(*stock){}, spec: byType},
		"Change":         {reason: "A change of plan, too.", known: under(limited("large", "large", 1, -1, "b")), spec: byType, write: toLarge, says: `ProvisioningPolicy "large"`},
		"SameSlot":       {reason: "Who has a slot of the policy needs no other.", known: under(limited("few", "", 1, -1, "uid-of-the-instance")), spec: byType, write: toLarge},
		"Edit":           {reason: "An edit of anything else is nothing to it.", known: full, spec: byType, write: `{"spec":{"parameters":{"a":1}}}`},
		"Undecided":      {reason: "Who waited for a plan waits for a slot, and is not left without a plan.", known: full, spec: late, write: `{"metadata":{"labels":{"a":"b"}}}`},
		"UndecidedClaim": {reason: "So does a claim.", known: under(limited("few", "", 2, 2, "a", "b")), spec: late, binds: true, write: `{"metadata":{"labels":{"a":"b"}}}`},
		"Bind":           {reason: "Bindings have limits of their own.", known: under(limited("few", "", 0, 2, "a", "b")), spec: toMydb, binds: true, says: "have 2 bindings"},
		"BindFree":       {reason: "Instances are not bindings.", known: under(limited("few", "", 0, 2, "a")), spec: toMydb, binds: true},
		"Claim":          {reason: "A claim needs an instance.", known: under(limited("few", "", 2, -1, "a", "b")), spec: byType, binds: true, says: "have 2 instances"},
		"ClaimBind":      {reason: "And a binding.", known: under(limited("few", "", -1, 2, "a", "b")), spec: byType, binds: true, says: "have 2 bindings"},
	}
}

func (tc quotaCase) run(t *testing.T) *outcome {
	t.Helper()
	const before, catalog = "mysql/db: small* large", "mysql/db: small* large late"
	edits := func(more []func(*stock)) []func(*stock) {
		return append([]func(*stock){hasInstance("mydb", "db-small"), hasNamespace("dev", "a", "b")}, more...)
	}
	live := tc.live
	if live == nil {
		live = tc.known
	}
	if tc.write == "" {
		w := envOf(t, stocked(t, catalog, edits(tc.known)...), stocked(t, catalog, edits(live)...))
		if tc.binds {
			return w.bindTo(tc.spec)
		}
		return w.create(tc.spec)
	}
	w := envOf(t, stocked(t, before, edits(nil)...), stocked(t, before, edits(nil)...))
	stored := changed(t, tc.stored(w), `{"metadata":{"uid":"uid-of-the-instance"}}`)
	w.cached.show(stocked(t, catalog, edits(tc.known)...))
	w.live.show(stocked(t, catalog, edits(live)...))
	return w.write(changed(t, stored, tc.write), stored)
}

// stored is what is written later.
func (tc quotaCase) stored(w *env) []byte {
	if tc.binds {
		return w.bindTo(tc.spec).admitted()
	}
	return w.created(tc.spec)
}

// A refusal is confirmed once, and says once that it was not.
func TestQuotaIsConfirmedOnce(t *testing.T) {
	t.Parallel()
	elsewhere := func(s *stock) {
		limited("elsewhere", "", 2, -1, "a", "b")(s)
		policy, ok := s.objects[len(s.objects)-1].(*v1beta1.ProvisioningPolicy)
		require.True(t, ok)
		policy.Spec.Namespaces = &v1beta1.PolicyNamespaces{Names: []string{"qa"}}
	}
	full := stocked(t, db, elsewhere, limited("binds", "", -1, 2, "a", "b"), limited("few", "", 2, -1, "a", "b"), hasNamespace("dev", "a", "b"))
	w := full.env()
	require.NotNil(t, w.create(byType).denied())
	reads := w.live.taken()
	assert.Zero(t, listsOf(reads)["list ProvisioningPolicyList"], "none of them refuses the plan")
	policies := slices.DeleteFunc(reads, func(read string) bool { return !strings.HasPrefix(read, "get ProvisioningPolicy ") })
	assert.Equal(t, []string{"get ProvisioningPolicy /few"}, policies, "what they limit: only the one that does")
	w = full.env()
	exhaust(w)
	o := w.create(byType)
	require.NotNil(t, o.denied())
	assert.Equal(t, 1, strings.Count(o.denied().Message, catalog.Unconfirmed))
	assert.Zero(t, listsOf(w.live.taken())["list ProvisioningPolicyList"])
}

// What is plainly over is refused, in the policy's name and words, with what makes room.
func TestQuotas(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	cases := quotaCases()
	for _, name := range slices.Sorted(maps.Keys(cases)) {
		tc := cases[name]
		o := tc.run(t)
		if tc.says == "" {
			assert.Nil(t, o.denied(), "%s: %s", name, tc.reason)
			continue
		}
		require.NotNil(t, o.denied(), "%s: %s", name, tc.reason)
		assert.Equal(t, "QuotaReached", o.label(), tc.reason)
		assert.Contains(t, o.denied().Message, tc.says, tc.reason)
		text.WriteString(o.render(name))
	}
	if *update {
		require.NoError(t, os.WriteFile(goldenQuotaDenials, []byte(text.String()), 0o644))
	}
	want, err := os.ReadFile(goldenQuotaDenials)
	require.NoError(t, err)
	assert.Equal(t, string(want), text.String(), "run the test with -update and read the difference")
}
