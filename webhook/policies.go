package webhook

import (
	"context"
	"fmt"
	"slices"
	"sync"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/resolve/policy"
	"github.com/defaultplan/defaultplan/webhook/review"
)

// policies evaluates ProvisioningPolicies and BindingPolicies: first by the
// RuleSet, which follows informers, and before a denial by a live read.
type policies struct {
	cached, live client.Reader
	set          *RuleSet
	reads        fresh[[]policy.Rule]
}

func newPolicies(readers Readers) *policies {
	return &policies{cached: readers.Cached, live: readers.Live, set: readers.Policies}
}

// A policyError is a plan, or an instance, that a policy keeps from a
// namespace.
type policyError struct {
	*policy.Refusal

	// subject is what is refused, for people, and namespace where.
	subject, namespace string
	// unconfirmed says that no live read confirmed it.
	unconfirmed bool
}

func (r *policyError) Error() string { return r.denial("spec").Message() }

// denial is the denial that the user sees, with the policy's name and message.
func (r *policyError) denial(field string) *review.Denial {
	text := r.Text(r.subject, r.namespace)
	if r.unconfirmed {
		text += unconfirmed
	}
	resource := "provisioningpolicy"
	if r.Kind == policy.KindBinding {
		resource = "bindingpolicy"
	}
	return review.Forbidden("PolicyDenied", field, "%s", text).
		Remedy("name another, or ask the policy's administrator: kubectl get %s %s -o yaml", resource, r.Policies[0])
}

// judge evaluates the known policies for the target in a namespace.
func (p *policies) judge(ctx context.Context, target *policy.Target, namespace string) (*policy.Refusal, error) {
	rules, err := p.set.rulesFor(target)
	if err != nil {
		return nil, err
	}
	return applyRules(rules, target, p.place(ctx, namespace, p.cached, p.live))
}

// confirm is judge, with a refusal confirmed by a live read.
func (p *policies) confirm(ctx context.Context, target *policy.Target, namespace string) (*policy.Refusal, error) {
	found, err := p.judge(ctx, target, namespace)
	if err != nil || found == nil {
		return nil, err
	}
	return p.confirmed(ctx, found, target, namespace)
}

// confirmed confirms a refusal by a live read. If the policy that denies still
// does, no other is read: there may be many, and large ones. If policies only
// allow other namespaces, all are read, because a new one may allow this
// namespace.
func (p *policies) confirmed(ctx context.Context, found *policy.Refusal, target *policy.Target, namespace string) (*policy.Refusal, error) {
	if found.NotAllowed {
		return p.judgeLive(ctx, target, namespace)
	}
	rules, err := p.readOne(ctx, found.Kind, found.Policies[0])
	if err != nil {
		return nil, err
	}
	refused, err := applyRules(rules, target, p.place(ctx, namespace, p.live))
	if err != nil || refused != nil && !refused.NotAllowed {
		return refused, err
	}
	return p.judgeLive(ctx, target, namespace)
}

// judgeLive is judge on the policies that the API server has now.
func (p *policies) judgeLive(ctx context.Context, target *policy.Target, namespace string) (*policy.Refusal, error) {
	rules, err := p.readLive(ctx, policy.KindProvisioning)
	if err == nil && target.Instance != nil {
		var others []policy.Rule
		others, err = p.readLive(ctx, policy.KindBinding)
		rules = slices.Concat(rules, others)
	}
	if err != nil {
		return nil, err
	}
	return applyRules(rules, target, p.place(ctx, namespace, p.live))
}

// applyRules evaluates rules; the place is only read if there are any.
func applyRules(rules []policy.Rule, target *policy.Target, place func() (policy.Place, error)) (*policy.Refusal, error) {
	if len(rules) == 0 {
		return nil, nil
	}
	at, err := place()
	if err != nil {
		return nil, err
	}
	return policy.Judge(rules, *target, at), nil
}

// readLive reads the policies of a kind from the API server, shared with
// concurrent requests. Those that cannot be compiled have no effect; the
// RuleSet reports them.
func (p *policies) readLive(ctx context.Context, kind string) ([]policy.Rule, error) {
	return p.reads.do(ctx, kind, func(ctx context.Context) ([]policy.Rule, error) {
		// Rules share memory with their policies, and this may run for several
		// reads, one after the other: each needs its own list.
		list := listOfPolicies(kind)
		if err := p.live.List(ctx, list); err != nil {
			return nil, fmt.Errorf("cannot list %T: %w", list, err)
		}
		var rules []policy.Rule
		err := meta.EachListItem(list, func(item runtime.Object) error {
			if rule, err := compilePolicy(item); err == nil {
				rules = append(rules, rule)
			}
			return nil
		})
		return rules, err //nolint:wrapcheck // a list that was read is one
	})
}

// readOne reads a policy from the API server, shared with concurrent requests;
// none if it is gone, or cannot be compiled.
func (p *policies) readOne(ctx context.Context, kind, name string) ([]policy.Rule, error) {
	return p.reads.do(ctx, kind+"/"+name, func(ctx context.Context) ([]policy.Rule, error) {
		var stored client.Object = &v1beta1.ProvisioningPolicy{}
		if kind == policy.KindBinding {
			stored = &v1beta1.BindingPolicy{}
		}
		if err := p.live.Get(ctx, client.ObjectKey{Name: name}, stored); err != nil {
			if apierrors.IsNotFound(err) {
				return nil, nil
			}
			return nil, fmt.Errorf("cannot read policy %q: %w", name, err)
		}
		rule, err := compilePolicy(stored)
		if err != nil {
			return nil, nil //nolint:nilerr // it has no effect; the set tells of it
		}
		return []policy.Rule{rule}, nil
	})
}

func listOfPolicies(kind string) client.ObjectList {
	if kind == policy.KindBinding {
		return &v1beta1.BindingPolicyList{}
	}
	return &v1beta1.ProvisioningPolicyList{}
}

// place is a namespace as rules see it, read on first use from the first of the
// readers that has it. One that does not exist has no labels: the API server
// denies the request anyway.
func (*policies) place(ctx context.Context, name string, from ...client.Reader) func() (policy.Place, error) {
	return sync.OnceValues(func() (policy.Place, error) {
		namespace := &corev1.Namespace{}
		for _, reader := range from {
			if found, err := (scope{reader: reader}).read(ctx, name, namespace); err != nil || found {
				return policy.Place{Namespace: name, Labels: namespace.Labels}, err
			}
		}
		return policy.Place{Namespace: name}, nil
	})
}
