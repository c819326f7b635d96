package simulation

import (
	"fmt"
	"maps"
	"reflect"
	"slices"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/resolve/quota"
)

// limits compares how the limits of policies are used, and which objects are over them.
func limits(c *comparison) {
	if !limited(c.now) && !limited(c.then) {
		return
	}
	now, then := usagesOf(c.now), usagesOf(c.then)
	keys := maps.Clone(now.of)
	maps.Copy(keys, then.of)
	for at := range keys {
		was, is := now.usage(at), then.usage(at)
		if !reflect.DeepEqual(was, is) {
			c.report.Limits = append(c.report.Limits, Limit{Policy: at.policy, Namespace: at.namespace, Kind: at.kind.String(), Now: was, Then: is})
		}
	}
	c.report.Instances = append(c.report.Instances, overs(quota.Instances, now, then)...)
	c.report.Bindings = append(c.report.Bindings, overs(quota.Bindings, now, then)...)
}

// limited says whether any policy limits how many there may be.
func limited(s *side) bool {
	return slices.ContainsFunc(s.policies, func(p v1beta1.ProvisioningPolicy) bool {
		return p.Spec.MaxInstances != nil || p.Spec.MaxBindings != nil
	})
}

// A limitKey names a limit of a policy in a namespace.
type limitKey struct {
	policy, namespace string
	kind              quota.Kind
}

// usages are how limits are used, and the shortages of objects.
type usages struct {
	*side

	all   []quota.Granting
	of    map[limitKey]*Usage
	short map[quota.Kind]map[client.ObjectKey]*quota.Shortage
	items map[quota.Kind]map[client.ObjectKey]item
}

func (u *usages) usage(at limitKey) Usage {
	if found := u.of[at]; found != nil {
		return *found
	}
	for i := range u.all {
		if by := &u.all[i]; by.Rule.Name == at.policy && by.Rule.Holds(u.place(at.namespace)) {
			return Usage{Limit: at.kind.Of(by.Rule.Limits), Granted: len(at.kind.Granted(by.Status, at.namespace))}
		}
	}
	return Usage{}
}

// usagesOf looks at each object and the policies that limit its plan where it is.
func usagesOf(s *side) *usages {
	all := quota.Grantings(s.policies)
	u := &usages{
		side: s, all: all,
		of:    map[limitKey]*Usage{},
		short: map[quota.Kind]map[client.ObjectKey]*quota.Shortage{quota.Instances: {}, quota.Bindings: {}},
		items: map[quota.Kind]map[client.ObjectKey]item{quota.Instances: instanceItems(s), quota.Bindings: bindingItems(s)},
	}
	for kind, items := range u.items {
		for at, one := range items {
			uses, _, err := quota.Look(s.named(one.object), &s.offers)
			if err != nil || len(uses) == 0 {
				continue
			}
			place := s.place(at.Namespace)
			for i := range all {
				if kind.Limits(&all[i].Rule, uses, place) {
					u.count(kind, &all[i], at.Namespace)
				}
			}
			if short := kind.Short(all, uses, place, one.object.GetUID()); short != nil {
				u.short[kind][at] = short
			}
		}
	}
	return u
}

// named are the plans that an object needs slots for, as the keeper grants them: of a binding,
// those of its instance.
func (s *side) named(object client.Object) []quota.Named {
	switch o := object.(type) {
	case *v1beta1.ServiceInstance:
		return quota.OfInstance(o)
	case *v1beta1.ServiceBinding:
		return quota.OfBinding(o, s.instances[o.InstanceKey()])
	}
	return nil
}

func (u *usages) count(kind quota.Kind, by *quota.Granting, namespace string) {
	at := limitKey{by.Rule.Name, namespace, kind}
	if u.of[at] == nil {
		u.of[at] = &Usage{Limit: kind.Of(by.Rule.Limits), Granted: len(kind.Granted(by.Status, namespace))}
	}
	u.of[at].Used++
}

// overs are the objects that lack a slot then and not now, or the other way round.
func overs(kind quota.Kind, now, then *usages) []Effect {
	var found []Effect
	for at := range then.items[kind] {
		was, is := now.short[kind][at], then.short[kind][at]
		switch {
		case was == nil && is != nil:
			found = append(found, Effect{Namespace: at.Namespace, Name: at.Name, What: OverLimit, Then: kind.Count(is.Limit), Message: overText(kind, is)})
		case was != nil && is == nil:
			found = append(found, Effect{Namespace: at.Namespace, Name: at.Name, What: WithinLimit, Now: kind.Count(was.Limit)})
		}
	}
	return found
}

func overText(kind quota.Kind, short *quota.Shortage) string {
	text := fmt.Sprintf("ProvisioningPolicy %q allows %s here, and it has no slot", short.Policy, kind.Count(short.Limit))
	if short.Message != "" {
		text += ": " + short.Message
	}
	return text
}
