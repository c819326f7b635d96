package webhook

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
	"github.com/defaultplan/defaultplan/webhook/review"
	"github.com/defaultplan/defaultplan/webhook/suggest"
)

// A want is an object that is to have a plan, or to be bound to one.
type want struct {
	kind      quota.Kind
	defined   *definition
	namespace string
	// uid is that of an object that exists.
	uid types.UID
}

// refusedOver denies what cannot get a slot now, because its namespace has all
// slots that a policy grants it. This only spares users a long wait. It is no
// lock, and what it admits has no slot yet: see resolve/quota.
func (h *commons) refusedOver(ctx context.Context, w want, field string) (*review.Denial, error) {
	short, err := h.policies.full(ctx, &w)
	if err != nil || short == nil {
		return nil, err
	}
	denied := w.refuse(short, field)
	if !h.resolver.mayConfirm(w.namespace, denied) {
		return denied, nil
	}
	if short, err = h.policies.fullLive(ctx, &w); err != nil || short == nil {
		return nil, err
	}
	return w.refuse(short, field), nil
}

// refuse says how many there may be, how many have a slot, and what makes room.
func (w *want) refuse(short *quota.Shortage, field string) *review.Denial {
	text := fmt.Sprintf("ProvisioningPolicy %q lets namespace %q have %s, %s among them (spec.%s), and %d have a slot",
		short.Policy, w.namespace, w.kind.Count(short.Limit), w.plans(), w.kind.Field(), short.Granted)
	if short.Message != "" {
		text += ": " + short.Message
	}
	look := suggest.Instances(w.namespace)
	if w.kind == quota.Bindings {
		look = suggest.Bindings(w.namespace)
	}
	return review.Forbidden("QuotaReached", field, "%s", text).
		Ways("to see which there are", look).
		Remedy("delete one that is not needed, or ask the policy's administrator: kubectl get provisioningpolicy %s -o jsonpath={.spec}", short.Policy)
}

// plans describes the limited plans by the desired one.
func (w *want) plans() string {
	if w.kind == quota.Bindings {
		return "those to instances of plan " + w.defined.title()
	}
	return "those of plan " + w.defined.title()
}

// full says which policy has no slot left, by the cache.
func (p *policies) full(ctx context.Context, w *want) (*quota.Shortage, error) {
	return p.fullBy(ctx, w, p.cached, p.live)
}

// fullLive is full on what the API server has now.
func (p *policies) fullLive(ctx context.Context, w *want) (*quota.Shortage, error) {
	return p.fullBy(ctx, w, p.live)
}

// fullBy is full on the policies that the first reader has. It reads only those
// that limit this plan in this namespace by the RuleSet: there may be many
// others, and large ones.
func (p *policies) fullBy(ctx context.Context, w *want, from ...client.Reader) (*quota.Shortage, error) {
	uses := []quota.Use{{Target: policy.TargetOf(w.defined.Class, w.defined.Plan)}}
	rules, err := p.set.rulesFor(&uses[0].Target)
	rules = slices.DeleteFunc(rules, func(r policy.Rule) bool { return w.kind.Of(r.Limits) == nil })
	if err != nil || len(rules) == 0 {
		return nil, err
	}
	place, err := p.place(ctx, w.namespace, from...)()
	if err != nil {
		return nil, err
	}
	slices.SortFunc(rules, func(a, b policy.Rule) int { return strings.Compare(a.Name, b.Name) })
	// The set finds a rule by each name that its subjects share with the plan.
	rules = slices.CompactFunc(rules, func(a, b policy.Rule) bool { return a.Name == b.Name })
	for i := range rules {
		if !w.kind.Limits(&rules[i], uses, place) {
			continue
		}
		// It may have many slots, and is only read: a cache need not copy it.
		stored := make([]v1beta1.ProvisioningPolicy, 1)
		err := from[0].Get(ctx, client.ObjectKey{Name: rules[i].Name}, &stored[0], client.UnsafeDisableDeepCopy)
		if apierrors.IsNotFound(err) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("cannot read policy %q: %w", rules[i].Name, err)
		}
		if short := w.kind.Full(quota.Grantings(stored), uses, place, w.uid); short != nil {
			return short, nil
		}
	}
	return nil, nil
}

// judgeQuota checks a plan that is new to the instance against the limits. An
// undecided instance is decided nevertheless, and waits for its slot as others
// do: nothing would touch it again once a slot is free.
func (v *instanceValidation) judgeQuota(ctx context.Context, seen view) error {
	if v.waited || v.Old != nil && !v.Old.Spec.Decided() {
		return nil
	}
	w := want{kind: quota.Instances, defined: v.defined, namespace: v.Req.Namespace, uid: v.New.Metadata.UID}
	short, err := seen.full(ctx, &w)
	if short != nil {
		v.Deny(w.refuse(short, v.askedField()))
	}
	return err
}

// judgeQuota checks a new binding against the limits for bindings. One that was
// undecided waits for its slot.
func (v *bindingValidation) judgeQuota(ctx context.Context, defined *definition, field string) error {
	if v.Old != nil {
		return nil
	}
	w := want{kind: quota.Bindings, defined: defined, namespace: v.Req.Namespace, uid: v.New.Metadata.UID}
	denied, err := v.refusedOver(ctx, w, field)
	v.Denied = v.Denied.Also(denied)
	return err
}
