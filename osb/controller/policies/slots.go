package policies

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/osb/lifecycle"
	"github.com/defaultplan/defaultplan/resolve/policy"
	"github.com/defaultplan/defaultplan/resolve/quota"
	"github.com/defaultplan/defaultplan/webhook/coalesce"
)

// ReasonSlot is the reason of what waits for a slot of a policy with a limit.
const ReasonSlot = "WaitingForSlot"

// errNoSlot is why a call was not made whose intent was stored already.
var errNoSlot = errors.New("it has no slot of a policy with a limit")

// Slots checks that an object has a slot of each policy that limits it. It
// only reads slots: the keeper grants them.
//
// Each object is checked twice. The first check, before the intent, uses the
// cache, so that a waiting object causes no requests, except that a change of
// plan lists the plans with the ID of the former one. The second check, after
// the intent and right before the call, reads from the API server: an object
// that has a slot then has stored its intent before the slot could be granted
// to another. The keeper lists all objects after it revokes a slot, so it finds
// the intent. Therefore neither a stale cache nor a new policy lets too many
// through.
type Slots struct {
	// Cached reads from the cache, and Live from the API server.
	Cached, Live client.Reader

	versions coalesce.Reads[[]version]
	reads    coalesce.Reads[*v1beta1.ProvisioningPolicy]
}

// Lacks says which policy has not granted a slot, by the cache.
func (q *Slots) Lacks(ctx context.Context, n *SlotRequest) (*lifecycle.Problem, error) {
	if q == nil { // this controller reads no policies
		return nil, nil
	}
	return q.problem(ctx, q.cached(), n)
}

// Withholds says, after the intent was stored, why the call must not be made;
// the result is zero if it may.
func (q *Slots) Withholds(ctx context.Context, n *SlotRequest) lifecycle.CallResult {
	if q == nil {
		return lifecycle.CallResult{}
	}
	problem, err := q.problem(ctx, q.afterIntent(), n)
	switch {
	case err != nil:
		return lifecycle.CallResult{Err: err}
	case problem != nil:
		return lifecycle.CallResult{Err: errNoSlot, Problem: problem}
	}
	return lifecycle.CallResult{}
}

func (q *Slots) problem(ctx context.Context, v *view, n *SlotRequest) (*lifecycle.Problem, error) {
	lacking, err := v.lacking(ctx, n)
	if err != nil || len(lacking) == 0 {
		return nil, err
	}
	named, err := n.named(ctx, v.Reader)
	if err != nil {
		return nil, err
	}
	uses, opaque, err := quota.Look(named, &slotCatalog{ctx: ctx, reader: v.Reader, live: q.Live, rules: rulesOf(lacking)})
	if err != nil {
		return nil, fmt.Errorf("cannot read the plans: %w", err)
	}
	place, err := placeOf(ctx, v.Reader, n.object.GetNamespace())
	if err != nil {
		return nil, err
	}
	refusing, err := v.refusing(ctx, n, lacking, func(g *quota.Granting) bool { return n.kind.Limits(&g.Rule, uses, place) })
	if err != nil {
		return nil, err
	}
	if short := n.kind.Short(refusing, uses, place, n.object.GetUID()); short != nil {
		return waitsForSlot(n, short), nil
	}
	// An instance needs slots for its desired plan, a binding for the plan that
	// its instance has.
	if !opaque || n.kind != quota.Bindings {
		return nil, nil
	}
	refusing, err = v.refusing(ctx, n, lacking, func(g *quota.Granting) bool { return g.Rule.Holds(place) })
	if err != nil || len(refusing) == 0 {
		return nil, err
	}
	return mayNeedSlot(refusing[0].Rule.Name), nil
}

// mayNeedSlot is of a binding whose plan is not in the catalog: each policy that holds in its namespace may be about it.
func mayNeedSlot(policy string) *lifecycle.Problem {
	return &lifecycle.Problem{Reason: ReasonSlot, Waits: true, Told: true, Message: fmt.Sprintf(
		"no plan of the catalog is the one that its instance has at its broker: whether ProvisioningPolicy %q limits it cannot be known until its class and plan are back", policy)}
}

// waitsForSlot does not say how many there are: the message would change with
// each that comes or goes.
func waitsForSlot(n *SlotRequest, short *quota.Shortage) *lifecycle.Problem {
	message := fmt.Sprintf("ProvisioningPolicy %q lets namespace %q have %s of its plans (spec.%s), and no slot is free: it gets one when others are gone, or when the limit is raised",
		short.Policy, n.object.GetNamespace(), n.kind.Count(short.Limit), n.kind.Field())
	if short.Message != "" {
		message += ": " + short.Message
	}
	return &lifecycle.Problem{Reason: ReasonSlot, Waits: true, Told: true, Message: message}
}

// placeOf is a namespace as policies see it. One that does not exist has no
// labels.
func placeOf(ctx context.Context, reader client.Reader, name string) (policy.Place, error) {
	var namespace corev1.Namespace
	if err := reader.Get(ctx, client.ObjectKey{Name: name}, &namespace); err != nil && !apierrors.IsNotFound(err) {
		return policy.Place{}, fmt.Errorf("cannot read namespace %q: %w", name, err)
	}
	return policy.Place{Namespace: name, Labels: namespace.Labels}, nil
}
