package policies

import (
	"context"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/resolve/policy"
	"github.com/defaultplan/defaultplan/resolve/quota"
	"github.com/defaultplan/defaultplan/webhook/catalog"
	"github.com/defaultplan/defaultplan/webhook/review"
	"github.com/defaultplan/defaultplan/webhook/suggest"
)

// A Want is an object that is to have a plan, or to be bound to one.
type Want struct {
	Kind      quota.Kind
	Defined   *catalog.Definition
	Namespace string
	// Uid is that of an object that exists.
	Uid types.UID
}

// Refuse says how many there may be, how many have a slot, and what makes room.
func (w *Want) Refuse(short *quota.Shortage, field string) *review.Denial {
	text := fmt.Sprintf("ProvisioningPolicy %q lets namespace %q have %s, %s among them (spec.%s), and %d have a slot",
		short.Policy, w.Namespace, w.Kind.Count(short.Limit), w.plans(), w.Kind.Field(), short.Granted)
	if short.Message != "" {
		text += ": " + short.Message
	}
	look := suggest.Instances(w.Namespace)
	if w.Kind == quota.Bindings {
		look = suggest.Bindings(w.Namespace)
	}
	return review.Forbidden("QuotaReached", field, "%s", text).
		Ways("to see which there are", look).
		Remedy("delete one that is not needed, or ask the policy's administrator: kubectl get provisioningpolicy %s -o jsonpath={.spec}", short.Policy)
}

// plans are those that are limited, by the one that is asked for.
func (w *Want) plans() string {
	if w.Kind == quota.Bindings {
		return "those to instances of plan " + w.Defined.Title()
	}
	return "those of plan " + w.Defined.Title()
}

// Full says, by what is known, which policy has no slot left.
func (p *Reader) Full(ctx context.Context, w *Want) (*quota.Shortage, error) {
	return p.fullBy(ctx, w, p.Cached, p.Live)
}

// FullLive is full on what the API server has now.
func (p *Reader) FullLive(ctx context.Context, w *Want) (*quota.Shortage, error) {
	return p.fullBy(ctx, w, p.Live)
}

// fullBy is full on the policies that the first reader has. It reads only those that, by
// what is known, limit this plan here: there may be many others, and large ones.
func (p *Reader) fullBy(ctx context.Context, w *Want, from ...client.Reader) (*quota.Shortage, error) {
	uses := []quota.Use{{Target: policy.TargetOf(w.Defined.Class, w.Defined.Plan)}}
	rules, err := p.Set.RulesFor(&uses[0].Target)
	rules = slices.DeleteFunc(rules, func(r policy.Rule) bool { return w.Kind.Of(r.Limits) == nil })
	if err != nil || len(rules) == 0 {
		return nil, err
	}
	if err := catalog.Price(ctx, from[0], rules, &uses[0].Target); err != nil {
		return nil, err
	}
	place, err := p.Place(ctx, w.Namespace, from...)()
	if err != nil {
		return nil, err
	}
	slices.SortFunc(rules, func(a, b policy.Rule) int { return strings.Compare(a.Name, b.Name) })
	// The set finds a rule by each name that its subjects share with the plan.
	rules = slices.CompactFunc(rules, func(a, b policy.Rule) bool { return a.Name == b.Name })
	for i := range rules {
		if !w.Kind.Limits(&rules[i], uses, place) {
			continue
		}
		// It may have many slots, and is only looked at: a cache need not copy it.
		stored := make([]v1beta1.ProvisioningPolicy, 1)
		err := from[0].Get(ctx, client.ObjectKey{Name: rules[i].Name}, &stored[0], client.UnsafeDisableDeepCopy)
		if apierrors.IsNotFound(err) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("cannot read policy %q: %w", rules[i].Name, err)
		}
		if short := w.Kind.Full(quota.Grantings(stored), uses, place, w.Uid); short != nil {
			return short, nil
		}
	}
	return nil, nil
}
