package main

import (
	"context"
	"errors"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/e2e/bench/catalog"
	"github.com/defaultplan/defaultplan/e2e/bench/measure"
	"github.com/defaultplan/defaultplan/e2e/bench/review"
	"github.com/defaultplan/defaultplan/e2e/stack/wait"
)

const policyGoal = 1.2

// measurePolicies compares the processor time of one review with many policies to
// that with none: two webhooks, each on an API server of its own.
func measurePolicies(ctx context.Context, b *bench) error {
	return onSite(ctx, b, func(without *site) error {
		return onOwnSite(ctx, b, func(with *site) error {
			plain := &catalog.Family{Name: "plain", Plans: catalog.PlansPerFamily}
			for _, s := range []*site{without, with} {
				if err := s.inventory.stock(ctx, plain); err != nil {
					return err
				}
			}
			if err := with.inventory.govern(ctx, plain, b.size.policies); err != nil {
				return err
			}
			return b.comparePolicies(ctx, without, with, plain)
		})
	})
}

func (b *bench) comparePolicies(ctx context.Context, without, with *site, f *catalog.Family) error {
	none, err := newReviewers(without)
	if err != nil {
		return err
	}
	many, err := newReviewers(with)
	if err != nil {
		return err
	}
	of, err := none.bodiesOf(ctx, review.Named(f), review.UserParameters)
	if err != nil {
		return err
	}
	for _, half := range []struct {
		what          string
		subject, base review.Hook
		body          []byte
	}{
		{fmt.Sprintf("mutate, %d policies against none", b.size.policies), many.mutate, none.mutate, of.mutate},
		{fmt.Sprintf("validate, %d policies against none", b.size.policies), many.validate, none.validate, of.validate},
	} {
		c, err := compareReviews(ctx, b, half.subject, half.base, half.body)
		if err != nil {
			return err
		}
		b.table.Add(measure.Row{
			What: half.what, Value: c.Ratio, Unit: "×", Bound: measure.AtMost, Goal: policyGoal,
			Detail: fmt.Sprintf("%.0f µs against %.0f µs; %s", c.Subject, c.Base, c.Spread()),
		})
	}
	return nil
}

// govern creates policies as a large cluster may have them: by type, class and
// plan, a few by labels, of which three are about the family; and waits until the
// webhook knows the last of them, which refuses a plan.
func (n inventory) govern(ctx context.Context, f *catalog.Family, count int) error {
	for i := range count {
		if err := n.client.Create(ctx, policyNumber(i, count, f)); err != nil {
			return fmt.Errorf("cannot create policy %d: %w", i, err)
		}
	}
	refused := &api.ServiceInstance{
		TypeMeta: catalog.TypeMeta("ServiceInstance"), ObjectMeta: metav1.ObjectMeta{Namespace: review.Namespace, GenerateName: "refused-"},
		Spec: api.ServiceInstanceSpec{PlanReference: api.PlanReference{
			ClusterServiceClassExternalName: "ext-" + f.Name, ClusterServicePlanExternalName: "ext-" + f.PlanName(f.Plans-1),
		}},
	}
	return wait.Eventually(ctx, func() (bool, error) {
		if err := n.client.Create(ctx, refused.DeepCopy(), client.DryRunAll); err == nil {
			return false, errors.New("the webhook does not know the last policy yet")
		}
		return true, nil
	})
}

func policyNumber(i, count int, f *catalog.Family) *api.ProvisioningPolicy {
	policy := &api.ProvisioningPolicy{
		TypeMeta: catalog.TypeMeta("ProvisioningPolicy"), ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("policy-%04d", i)},
		Spec: api.ProvisioningPolicySpec{PolicyRule: api.PolicyRule{
			Action: api.PolicyDeny, Message: "ask the database team",
			Namespaces: &api.PolicyNamespaces{Names: []string{fmt.Sprintf("team-%d", i)}, Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"stage": "test"}}},
		}},
	}
	policy.Spec.Subjects = []api.PolicySubject{{PlanSubject: policySubject(i, count, f)}}
	if i == count-1 {
		policy.Spec.Namespaces = nil
	}
	return policy
}

func policySubject(i, count int, f *catalog.Family) api.PlanSubject {
	switch {
	case i == count-1:
		return api.PlanSubject{ClassName: "ext-" + f.Name, PlanName: "ext-" + f.PlanName(f.Plans-1)}
	case i < 3:
		return []api.PlanSubject{{ServiceType: f.Name}, {ClassName: f.Name}, {PlanName: "ext-" + f.PlanName(0)}}[i]
	case i%100 == 0:
		return api.PlanSubject{PlanSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"attributes.servicecatalog.k8s.io/Cores": fmt.Sprint(i)}}}
	}
	return []api.PlanSubject{
		{ServiceType: fmt.Sprintf("type-%d", i)}, {ClassName: fmt.Sprintf("class-%d", i)}, {PlanName: fmt.Sprintf("plan-%d", i)},
	}[i%3]
}
