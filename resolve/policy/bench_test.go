package policy_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/resolve"
	"github.com/defaultplan/defaultplan/resolve/policy"
)

// thousand are 1,000 rules, each about one subject.
func thousand(b *testing.B, subject func(i int) v1beta1.PlanSubject) []policy.Rule {
	b.Helper()
	rules := make([]policy.Rule, 1000)
	for i := range rules {
		var err error
		rules[i], err = policy.FromProvisioning(&v1beta1.ProvisioningPolicy{
			ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("policy-%d", i)},
			Spec: v1beta1.ProvisioningPolicySpec{
				PolicyRule: v1beta1.PolicyRule{
					Action: v1beta1.PolicyDeny, Namespaces: &v1beta1.PolicyNamespaces{Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"tier": "dev"}}},
				},
				Subjects: []v1beta1.PolicySubject{{PlanSubject: subject(i)}},
			},
		})
		require.NoError(b, err)
	}
	return rules
}

// BenchmarkJudge is what one admission pays for 1,000 policies: asking each, or
// the few that an index finds by the target's keys.
func BenchmarkJudge(b *testing.B) {
	target := policy.TargetOf(
		resolve.ClassEntry{Ref: resolve.Ref{Name: "class-7"}, ExternalName: "cache", Type: "redis", Labels: map[string]string{"owner": "ann"}},
		resolve.PlanEntry{Ref: resolve.Ref{Name: "plan-7"}, ExternalName: "small", Labels: map[string]string{"cores": "2"}},
	)
	place := policy.Place{Namespace: "dev", Labels: map[string]string{"tier": "dev"}}
	names := thousand(b, func(i int) v1beta1.PlanSubject { return v1beta1.PlanSubject{PlanName: fmt.Sprintf("other-%d", i)} })
	selectors := thousand(b, func(i int) v1beta1.PlanSubject {
		return v1beta1.PlanSubject{PlanSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"cores": fmt.Sprintf("x%d", i)}}}
	})
	index := map[string][]policy.Rule{}
	for _, rule := range names {
		for _, key := range rule.Keys() {
			index[key] = append(index[key], rule)
		}
	}
	for name, rules := range map[string]func() []policy.Rule{
		"All":       func() []policy.Rule { return names },
		"Selectors": func() []policy.Rule { return selectors },
		"Indexed": func() []policy.Rule {
			var few []policy.Rule
			for _, key := range target.Keys() {
				few = append(few, index[key]...)
			}
			return few
		},
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				require.Nil(b, policy.Judge(rules(), target, place))
			}
		})
	}
}

// BenchmarkCompile is paid for each rule where no one keeps it.
func BenchmarkCompile(b *testing.B) {
	given := &v1beta1.ProvisioningPolicy{Spec: v1beta1.ProvisioningPolicySpec{
		PolicyRule: v1beta1.PolicyRule{Action: v1beta1.PolicyDeny, Namespaces: &v1beta1.PolicyNamespaces{Names: []string{"dev", "qa"}}},
		Subjects:   []v1beta1.PolicySubject{{PlanSubject: v1beta1.PlanSubject{PlanSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"tier": "prod"}}}}},
	}}
	b.ReportAllocs()
	for b.Loop() {
		_, err := policy.FromProvisioning(given)
		require.NoError(b, err)
	}
}
