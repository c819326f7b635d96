package policy_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/resolve/policy"
	"github.com/defaultplan/defaultplan/resolve/resolvetest"
)

// rulesOf compiles policies that are written "kind/name" and spec. They come in
// the order of a map: none matters.
func rulesOf(t *testing.T, policies map[string]string) []policy.Rule {
	t.Helper()
	rules := make([]policy.Rule, 0, len(policies))
	for title, spec := range policies {
		rule, err := compiled(t, title, spec)
		require.NoError(t, err)
		rules = append(rules, rule)
	}
	return rules
}

func compiled(t *testing.T, title, spec string) (policy.Rule, error) {
	t.Helper()
	kind, name, _ := strings.Cut(title, "/")
	meta := metav1.ObjectMeta{Name: name}
	if kind == "p" {
		object := &v1beta1.ProvisioningPolicy{ObjectMeta: meta}
		require.NoError(t, yaml.UnmarshalStrict([]byte(spec), &object.Spec))
		return policy.FromProvisioning(object)
	}
	require.Equal(t, "b", kind)
	object := &v1beta1.BindingPolicy{ObjectMeta: meta}
	require.NoError(t, yaml.UnmarshalStrict([]byte(spec), &object.Spec))
	return policy.FromBinding(object)
}

// targetOf is the one plan of a catalog in resolvetest's language.
func targetOf(t *testing.T, catalog string) policy.Target {
	t.Helper()
	cat := resolvetest.Catalog(t, catalog)
	require.Len(t, cat.Classes, 1)
	require.Len(t, cat.Plans, 1)
	return policy.TargetOf(cat.Classes[0], cat.Plans[0])
}

// placeOf is a namespace with the label tier if it has a slash, as in dev/test.
func placeOf(text string) policy.Place {
	namespace, tier, ok := strings.Cut(text, "/")
	place := policy.Place{Namespace: namespace}
	if ok {
		place.Labels = map[string]string{"tier": tier}
	}
	return place
}

func said(r *policy.Refusal) string {
	switch {
	case r == nil:
		return "allowed"
	case r.NotAllowed:
		return fmt.Sprintf("%s not allowed: %s (%s)", r.Kind, strings.Join(r.Policies, ","), r.Message)
	}
	return fmt.Sprintf("%s denied: %s (%s)", r.Kind, strings.Join(r.Policies, ","), r.Message)
}

const (
	inDev   = "namespaces: {names: [dev]}, "
	inQA    = "namespaces: {names: [qa]}, "
	anyPlan = "subjects: [{planSelector: {}}]}"
)

func TestJudge(t *testing.T) {
	t.Parallel()
	const redis = "redis/cache: small"
	cases := map[string]struct {
		reason   string
		policies map[string]string
		place    string
		want     string
	}{
		"NoPolicy": {reason: "no policy: all allowed", place: "dev", want: "allowed"},
		"Denied": {
			reason:   "by name and message",
			policies: map[string]string{"p/no-dev": "{action: Deny, message: ask Ann, " + inDev + anyPlan},
			place:    "dev", want: "ProvisioningPolicy denied: no-dev (ask Ann)",
		},
		"DeniedElsewhere": {
			reason:   "a denial is of its namespaces",
			policies: map[string]string{"p/no-dev": "{action: Deny, " + inDev + anyPlan},
			place:    "qa", want: "allowed",
		},
		"DeniedEverywhere": {
			reason:   "without namespaces of all",
			policies: map[string]string{"p/never": "{action: Deny, " + anyPlan},
			place:    "qa", want: "ProvisioningPolicy denied: never ()",
		},
		"DeniedAnother": {
			reason:   "and of its subjects",
			policies: map[string]string{"p/no-mysql": "{action: Deny, subjects: [{serviceType: mysql}]}"},
			place:    "dev", want: "allowed",
		},
		"FirstDenial": {
			reason:   "of several the first by name",
			policies: map[string]string{"p/b": "{action: Deny, " + anyPlan, "p/a": "{action: Deny, message: A, " + anyPlan, "p/c": "{action: Deny, " + anyPlan},
			place:    "dev", want: "ProvisioningPolicy denied: a (A)",
		},
		"FirstDenialOfTwoKinds": {
			reason:   "of one name, the kind decides",
			policies: map[string]string{"p/a": "{action: Deny, message: P, " + anyPlan, "b/a": "{action: Deny, message: B, " + anyPlan},
			place:    "dev", want: "BindingPolicy denied: a (B)",
		},
		"Allowed": {
			reason:   "where the rule allows it",
			policies: map[string]string{"p/dev": "{action: Allow, " + inDev + anyPlan},
			place:    "dev", want: "allowed",
		},
		"NotAllowed": {
			reason:   "a rule that allows a subject somewhere keeps it there",
			policies: map[string]string{"p/dev": "{action: Allow, message: only dev, " + inDev + anyPlan},
			place:    "qa", want: "ProvisioningPolicy not allowed: dev (only dev)",
		},
		"NotAllowedBySeveral": {
			reason: "all that could have are told, and the first that has something to say",
			policies: map[string]string{
				"p/c": "{action: Allow, message: C, " + inDev + anyPlan, "p/a": "{action: Allow, " + inDev + anyPlan, "p/b": "{action: Allow, message: B, " + inDev + anyPlan,
			},
			place: "qa", want: "ProvisioningPolicy not allowed: a,b,c (B)",
		},
		"AllowedByOneOfSeveral": {
			reason:   "one is enough",
			policies: map[string]string{"p/dev": "{action: Allow, " + inDev + anyPlan, "p/qa": "{action: Allow, " + inQA + anyPlan},
			place:    "qa", want: "allowed",
		},
		"AllowedAnother": {
			reason:   "rules about others say nothing",
			policies: map[string]string{"p/mysql": "{action: Allow, " + inDev + "subjects: [{serviceType: mysql}]}"},
			place:    "qa", want: "allowed",
		},
		"DenyWins": {
			reason:   "over any that allows",
			policies: map[string]string{"p/allow": "{action: Allow, " + inDev + anyPlan, "p/deny": "{action: Deny, " + inDev + anyPlan},
			place:    "dev", want: "ProvisioningPolicy denied: deny ()",
		},
		"DenyBeforeNotAllowed": {
			reason:   "and over what is not allowed",
			policies: map[string]string{"p/allow": "{action: Allow, " + inDev + anyPlan, "p/deny": "{action: Deny, " + inQA + anyPlan},
			place:    "qa", want: "ProvisioningPolicy denied: deny ()",
		},
		"KindsApart": {
			reason:   "who may bind in qa may not therefore provision there",
			policies: map[string]string{"p/dev": "{action: Allow, " + inDev + anyPlan, "b/qa": "{action: Allow, " + inQA + anyPlan},
			place:    "qa", want: "ProvisioningPolicy not allowed: dev ()",
		},
		"KindsApartBinding": {
			reason:   "nor the other way round",
			policies: map[string]string{"p/qa": "{action: Allow, " + inQA + anyPlan, "b/dev": "{action: Allow, " + inDev + anyPlan},
			place:    "qa", want: "BindingPolicy not allowed: dev ()",
		},
		"BothKindsNotAllowed": {
			reason:   "provisioning comes first",
			policies: map[string]string{"p/dev": "{action: Allow, " + inDev + anyPlan, "b/dev": "{action: Allow, " + inDev + anyPlan},
			place:    "qa", want: "ProvisioningPolicy not allowed: dev ()",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rules, target := rulesOf(t, tc.policies), targetOf(t, redis)
			target.Instance = &policy.Instance{Namespace: "dev", Name: "gitlab"}
			twice := append(rules, rules...) //nolint:gocritic // A rule may come twice: an index finds it by two keys.
			assert.Equal(t, tc.want, said(policy.Judge(rules, target, placeOf(tc.place))), tc.reason)
			assert.Equal(t, tc.want, said(policy.Judge(twice, target, placeOf(tc.place))), "No rule counts twice.")
		})
	}
}

// TestJudgeProvisioning: what may not be bound to may be provisioned.
func TestJudgeProvisioning(t *testing.T) {
	t.Parallel()
	place, target := placeOf("qa"), targetOf(t, "redis/cache: small")
	binding := rulesOf(t, map[string]string{"b/deny": "{action: Deny, subjects: [{planName: small}]}", "b/allow": "{action: Allow, " + inDev + anyPlan})
	assert.Nil(t, policy.Judge(binding, target, place), "There is no instance yet.")
	for _, rule := range binding {
		assert.True(t, rule.Selects(target), "The plan is selected nevertheless, if a caller asks.")
	}
	both := slices.Concat(binding, rulesOf(t, map[string]string{"p/z": "{action: Deny, " + anyPlan}))
	assert.Equal(t, "ProvisioningPolicy denied: z ()", said(policy.Judge(both, target, place)))
}

func TestJudgeTheZeroRule(t *testing.T) {
	t.Parallel()
	place, target := placeOf("dev"), targetOf(t, "redis/cache: small")
	for _, rule := range []policy.Rule{{}, {Kind: policy.KindBinding, Deny: true}} {
		assert.False(t, rule.Selects(target))
		assert.False(t, rule.Holds(place))
		assert.Empty(t, rule.Keys())
		assert.Nil(t, policy.Judge([]policy.Rule{rule}, target, place), "A rule that could not be compiled denies nothing.")
	}
}

func TestHolds(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason     string
		namespaces string
		holds      []string
		not        []string
	}{
		"Everywhere": {reason: "no namespaces are all", namespaces: "null", holds: []string{"dev", "qa/prod", ""}},
		"Names":      {reason: "those that are named", namespaces: "{names: [dev, qa]}", holds: []string{"dev", "qa/prod"}, not: []string{"prod", "de", ""}},
		"Selector": {
			reason: "those with the labels", namespaces: "{selector: {matchLabels: {tier: prod}}}",
			holds: []string{"dev/prod"}, not: []string{"dev", "prod/dev"},
		},
		"Expressions": {
			reason: "or without", namespaces: "{selector: {matchExpressions: [{key: tier, operator: NotIn, values: [prod]}]}}",
			holds: []string{"dev", "dev/test"}, not: []string{"dev/prod"},
		},
		"EmptySelector": {reason: "an empty one matches all", namespaces: "{selector: {}}", holds: []string{"dev", "qa/prod"}},
		"Either": {
			reason: "those of both", namespaces: "{names: [dev], selector: {matchLabels: {tier: prod}}}",
			holds: []string{"dev", "dev/test", "qa/prod"}, not: []string{"qa", "qa/test"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rule, err := compiled(t, "p/x", "{action: Deny, namespaces: "+tc.namespaces+", "+anyPlan)
			require.NoError(t, err)
			for _, place := range tc.holds {
				assert.True(t, rule.Holds(placeOf(place)), "%s: %s", tc.reason, place)
			}
			for _, place := range tc.not {
				assert.False(t, rule.Holds(placeOf(place)), "%s: %s", tc.reason, place)
			}
		})
	}
}

func TestDeletedPolicyCounts(t *testing.T) {
	t.Parallel()
	now := metav1.Now()
	going := &v1beta1.ProvisioningPolicy{
		ObjectMeta: metav1.ObjectMeta{Name: "going", DeletionTimestamp: &now, Finalizers: []string{"example.com/keep"}},
		Spec: v1beta1.ProvisioningPolicySpec{
			PolicyRule: v1beta1.PolicyRule{Action: v1beta1.PolicyDeny},
			Subjects:   []v1beta1.PolicySubject{{PlanSubject: v1beta1.PlanSubject{ClassName: "cache"}}},
		},
	}
	rule, err := policy.FromProvisioning(going)
	require.NoError(t, err)
	refusal := policy.Judge([]policy.Rule{rule}, targetOf(t, "redis/cache: small"), placeOf("dev"))
	assert.Equal(t, "ProvisioningPolicy denied: going ()", said(refusal), "Until it is gone.")
}
