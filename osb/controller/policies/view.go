package policies

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/resolve/policy"
	"github.com/defaultplan/defaultplan/resolve/quota"
)

// A view is how policies with limits are read: from the cache, or as they are after an intent.
type view struct {
	// Reader reads what policies select by.
	client.Reader

	// policies have the right specs; what they granted may be out of date.
	policies func(context.Context) ([]v1beta1.ProvisioningPolicy, error)
	// again reads one of them with what it granted, nil: it is gone. A nil function says that
	// policies has both.
	again func(context.Context, string) (*v1beta1.ProvisioningPolicy, error)
}

// cached is the view of the cache.
func (q *Slots) cached() *view { return &view{Reader: q.Cached, policies: q.list} }

// afterIntent is the view of the API server. Each of its reads begins after it was asked for, and
// is shared by the calls that wait for it: one list of names and generations for all policies,
// and one read by name of each policy that the cache does not have in that generation, or that
// limits the object. A spec changes its generation, and a slot does not, so the cache gives
// the specs and never the slots.
func (q *Slots) afterIntent() *view {
	return &view{Reader: q.Live, policies: q.listLive, again: q.readLive}
}

func (q *Slots) list(ctx context.Context) ([]v1beta1.ProvisioningPolicy, error) {
	var list v1beta1.ProvisioningPolicyList
	if err := q.Cached.List(ctx, &list, client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("cannot list the policies: %w", err)
	}
	return list.Items, nil
}

// A version is a policy with one spec.
type version struct {
	name       string
	uid        types.UID
	generation int64
}

func versionOf(o metav1.Object) version { return version{o.GetName(), o.GetUID(), o.GetGeneration()} }

// listLive returns the policies with the specs that they have now.
func (q *Slots) listLive(ctx context.Context) ([]v1beta1.ProvisioningPolicy, error) {
	now, err := q.versions.Do(ctx, "", q.readVersions)
	if err != nil || len(now) == 0 {
		return nil, err
	}
	cached, err := q.list(ctx)
	if err != nil {
		return nil, err
	}
	known := make(map[version]*v1beta1.ProvisioningPolicy, len(cached))
	for i := range cached {
		known[versionOf(&cached[i])] = &cached[i]
	}
	policies := make([]v1beta1.ProvisioningPolicy, 0, len(now))
	for _, at := range now {
		policy := known[at]
		if policy == nil {
			if policy, err = q.readLive(ctx, at.name); err != nil {
				return nil, err
			}
		}
		if policy != nil {
			policies = append(policies, *policy)
		}
	}
	return policies, nil
}

func (q *Slots) readVersions(ctx context.Context) ([]version, error) {
	var list metav1.PartialObjectMetadataList
	list.SetGroupVersionKind(v1beta1.GroupVersion.WithKind("ProvisioningPolicyList"))
	if err := q.Live.List(ctx, &list); err != nil {
		return nil, fmt.Errorf("cannot list the policies: %w", err)
	}
	versions := make([]version, len(list.Items))
	for i := range list.Items {
		versions[i] = versionOf(&list.Items[i])
	}
	return versions, nil
}

// readLive reads a policy; nil: it is gone.
func (q *Slots) readLive(ctx context.Context, name string) (*v1beta1.ProvisioningPolicy, error) {
	return q.reads.Do(ctx, name, func(ctx context.Context) (*v1beta1.ProvisioningPolicy, error) {
		var policy v1beta1.ProvisioningPolicy
		err := q.Live.Get(ctx, client.ObjectKey{Name: name}, &policy)
		if apierrors.IsNotFound(err) {
			return nil, nil
		}
		if err != nil {
			return nil, fmt.Errorf("cannot read ProvisioningPolicy %q: %w", name, err)
		}
		return &policy, nil
	})
}

// A pending policy may lack a slot for the object.
type pending struct {
	quota.Granting

	// settled says that what it granted was read again.
	settled bool
}

func rulesOf(lacking []pending) []policy.Rule {
	rules := make([]policy.Rule, len(lacking))
	for i := range lacking {
		rules[i] = lacking[i].Rule
	}
	return rules
}

// confirm reads again what a policy granted, where that is not certain. It returns false for a
// policy that is gone, or has no limits now.
func (v *view) confirm(ctx context.Context, p *pending) (bool, error) {
	if p.settled || v.again == nil {
		return true, nil
	}
	policy, err := v.again(ctx, p.Rule.Name)
	if err != nil || policy == nil {
		return false, err
	}
	found := quota.Grantings([]v1beta1.ProvisioningPolicy{*policy})
	if len(found) == 0 {
		return false, nil
	}
	p.Granting, p.settled = found[0], true
	return true, nil
}

// lacking are the policies that limit the kind and may have granted the object no slot. Those that
// granted it one as far as is known are read again.
func (v *view) lacking(ctx context.Context, n *SlotRequest) ([]pending, error) {
	policies, err := v.policies(ctx)
	if err != nil {
		return nil, err
	}
	var lacking []pending
	for _, g := range quota.Grantings(policies) {
		p, there := pending{Granting: g}, true
		if n.granted(&g) {
			if there, err = v.confirm(ctx, &p); err != nil {
				return nil, err
			}
		}
		if there && n.lacks(&p.Granting) {
			lacking = append(lacking, p)
		}
	}
	return lacking, nil
}

// refusing are those of the lacking policies that limit the object. Each is read again before it
// refuses.
func (v *view) refusing(ctx context.Context, n *SlotRequest, lacking []pending, limits func(*quota.Granting) bool) ([]quota.Granting, error) {
	var refusing []quota.Granting
	for i := range lacking {
		p := &lacking[i]
		if !limits(&p.Granting) {
			continue
		}
		there, err := v.confirm(ctx, p)
		if err != nil {
			return nil, err
		}
		if there && n.lacks(&p.Granting) && limits(&p.Granting) {
			refusing = append(refusing, p.Granting)
		}
	}
	return refusing, nil
}
