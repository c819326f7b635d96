package policies

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
	"github.com/defaultplan/defaultplan/webhook/catalog"
	"github.com/defaultplan/defaultplan/webhook/coalesce"
	"github.com/defaultplan/defaultplan/webhook/review"
)

// Reader evaluates ProvisioningPolicies and BindingPolicies: first by the
// RuleSet, which follows informers, and before a denial by a live read.
type Reader struct {
	Cached, Live client.Reader
	Set          *RuleSet
	reads        coalesce.Reads[[]policy.Rule]
}

// New returns a reader of the policies that set follows.
func New(cached, live client.Reader, set *RuleSet) *Reader {
	return &Reader{Cached: cached, Live: live, Set: set}
}

// A RefusedError is a plan, or an instance, that a policy keeps from a
// namespace.
type RefusedError struct {
	*policy.Refusal

	// Subject is what is refused, for people, and namespace where.
	Subject, Namespace string
	// Unconfirmed says that no live read confirmed it.
	Unconfirmed bool
}

// Error is the refusal as one text.
func (r *RefusedError) Error() string { return r.Denial("spec").Message() }

// Denial is the denial that the user sees, with the policy's name and message.
func (r *RefusedError) Denial(field string) *review.Denial {
	text := r.Text(r.Subject, r.Namespace)
	if r.Unconfirmed {
		text += catalog.Unconfirmed
	}
	resource := "provisioningpolicy"
	if r.Kind == policy.KindBinding {
		resource = "bindingpolicy"
	}
	return review.Forbidden("PolicyDenied", field, "%s", text).
		Remedy("name another, or ask the policy's administrator: kubectl get %s %s -o yaml", resource, r.Policies[0])
}

// Refusal evaluates the known policies for the target in a namespace.
func (p *Reader) Refusal(ctx context.Context, target *policy.Target, namespace string) (*policy.Refusal, error) {
	rules, err := p.Set.RulesFor(target)
	if err != nil {
		return nil, err
	}
	return apply(ctx, p.Cached, rules, target, p.Place(ctx, namespace, p.Cached, p.Live))
}

// ConfirmedRefusal is Refusal, with a refusal confirmed by a live read.
func (p *Reader) ConfirmedRefusal(ctx context.Context, target *policy.Target, namespace string) (*policy.Refusal, error) {
	found, err := p.Refusal(ctx, target, namespace)
	if err != nil || found == nil {
		return nil, err
	}
	return p.Confirm(ctx, found, target, namespace)
}

// Confirm confirms a refusal by a live read. If the policy that denies still
// does, no other is read: there may be many, and large ones. If policies only
// allow other namespaces, all are read, because a new one may allow this
// namespace.
func (p *Reader) Confirm(ctx context.Context, found *policy.Refusal, target *policy.Target, namespace string) (*policy.Refusal, error) {
	if found.NotAllowed {
		return p.refusalLive(ctx, target, namespace)
	}
	rules, err := p.readOne(ctx, found.Kind, found.Policies[0])
	if err != nil {
		return nil, err
	}
	refused, err := apply(ctx, p.Live, rules, target, p.Place(ctx, namespace, p.Live))
	if err != nil || refused != nil && !refused.NotAllowed {
		return refused, err
	}
	return p.refusalLive(ctx, target, namespace)
}

// refusalLive is Refusal on the policies that the API server has now.
func (p *Reader) refusalLive(ctx context.Context, target *policy.Target, namespace string) (*policy.Refusal, error) {
	rules, err := p.ReadLive(ctx, policy.KindProvisioning)
	if err == nil && target.Instance != nil {
		var others []policy.Rule
		others, err = p.ReadLive(ctx, policy.KindBinding)
		rules = slices.Concat(rules, others)
	}
	if err != nil {
		return nil, err
	}
	return apply(ctx, p.Live, rules, target, p.Place(ctx, namespace, p.Live))
}

// Apply evaluates rules; the place is only read if there are any, and the original of a copy,
// from the cache, if any is about costs.
func (p *Reader) Apply(ctx context.Context, rules []policy.Rule, target *policy.Target, place func() (policy.Place, error)) (*policy.Refusal, error) {
	return apply(ctx, p.Cached, rules, target, place)
}

func apply(ctx context.Context, originals client.Reader, rules []policy.Rule, target *policy.Target, place func() (policy.Place, error)) (*policy.Refusal, error) {
	if len(rules) == 0 {
		return nil, nil
	}
	// The caller's target is priced again where a denial is confirmed.
	priced := *target
	if err := catalog.Price(ctx, originals, rules, &priced); err != nil {
		return nil, err
	}
	at, err := place()
	if err != nil {
		return nil, err
	}
	return policy.Judge(rules, priced, at), nil
}

// ReadLive reads the policies of a kind from the API server, shared with
// concurrent requests. Those that cannot be compiled have no effect; the
// RuleSet reports them.
func (p *Reader) ReadLive(ctx context.Context, kind string) ([]policy.Rule, error) {
	return p.reads.Do(ctx, kind, func(ctx context.Context) ([]policy.Rule, error) {
		// Rules share memory with their policies, and this may run for several
		// reads, one after the other: each needs its own list.
		list := listOfPolicies(kind)
		if err := p.Live.List(ctx, list); err != nil {
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
func (p *Reader) readOne(ctx context.Context, kind, name string) ([]policy.Rule, error) {
	return p.reads.Do(ctx, kind+"/"+name, func(ctx context.Context) ([]policy.Rule, error) {
		var stored client.Object = &v1beta1.ProvisioningPolicy{}
		if kind == policy.KindBinding {
			stored = &v1beta1.BindingPolicy{}
		}
		if err := p.Live.Get(ctx, client.ObjectKey{Name: name}, stored); err != nil {
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

// Place is a namespace as rules see it, read on first use from the first of the
// readers that has it. One that does not exist has no labels: the API server
// denies the request anyway.
func (*Reader) Place(ctx context.Context, name string, from ...client.Reader) func() (policy.Place, error) {
	return sync.OnceValues(func() (policy.Place, error) {
		namespace := &corev1.Namespace{}
		for _, reader := range from {
			if found, err := (catalog.Scope{Reader: reader}).Read(ctx, name, namespace); err != nil || found {
				return policy.Place{Namespace: name, Labels: namespace.Labels}, err
			}
		}
		return policy.Place{Namespace: name}, nil
	})
}
