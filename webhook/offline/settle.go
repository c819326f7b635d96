package offline

import (
	"context"

	"github.com/defaultplan/defaultplan/api/v1beta1"
)

// Settle touches the instances and bindings that are not decided until that changes
// nothing more, as the keeper does. It returns those that were decided by it, and the
// last touch of those that still are not: its warnings, or its denial, say what they
// wait for.
func (c *Cluster) Settle(ctx context.Context) (decided, waiting []Result, err error) {
	ctx = quiet(ctx)
	for {
		var now []Result
		now, waiting, err = c.touchAll(ctx)
		decided = append(decided, now...)
		if err != nil || len(now) == 0 {
			return decided, waiting, err
		}
	}
}

// touchAll touches each object that is not decided once, instances first: bindings
// wait for them.
func (c *Cluster) touchAll(ctx context.Context) (decided, waiting []Result, err error) {
	for _, kind := range []string{"ServiceInstance", "ServiceBinding"} {
		all, _ := c.store.list(v1beta1.GroupVersion.WithKind(kind), "")
		for _, one := range all {
			if one.typed.GetDeletionTimestamp() != nil || isDecided(one) {
				continue
			}
			result, err := c.touch(ctx, one)
			if err != nil {
				return decided, waiting, err
			}
			if now := c.store.find(v1beta1.GroupVersion.WithKind(kind), one.at); isDecided(now) {
				decided = append(decided, result)
				continue
			}
			waiting = append(waiting, result)
		}
	}
	return decided, waiting, nil
}

// touch sends an empty merge patch.
func (c *Cluster) touch(ctx context.Context, one *stored) (Result, error) {
	object := one.object()
	kind, err := kindOf(object)
	if err != nil {
		return Result{}, err
	}
	return c.write(ctx, &write{kind: kind, object: object, old: one.object(), user: toucher})
}

// isDecided says that admission has decided on an object.
func isDecided(one *stored) bool {
	switch o := one.typed.(type) {
	case *v1beta1.ServiceInstance:
		return o.Spec.Decided()
	case *v1beta1.ServiceBinding:
		return o.Spec.Decided()
	}
	return true
}
