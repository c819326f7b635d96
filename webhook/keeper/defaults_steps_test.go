package keeper_test

import (
	"context"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

// A step is one action of a user.
type step func(context.Context, *registry)

func annotates(plans ...string) step {
	return func(ctx context.Context, r *registry) {
		for _, plan := range plans {
			r.annotate(ctx, plan)
		}
	}
}

func takesOff(plan string) step {
	return func(ctx context.Context, r *registry) { r.takeOff(ctx, plan) }
}

func records(plan string) step {
	return func(ctx context.Context, r *registry) { r.record(ctx, plan) }
}

func clears(ctx context.Context, r *registry) {
	r.editf(ctx, typeAt(r.namespace, "mysql"), `{"spec":{"defaultPlanRef":null}}`)
}

func deletesPlan(plan string) step {
	return func(ctx context.Context, r *registry) { r.remove(ctx, planAt(r.namespace, plan)) }
}

func retypes(plan, serviceType string) step {
	return func(ctx context.Context, r *registry) { r.retype(ctx, plan, serviceType) }
}

func retypesClass(serviceType string) step {
	return func(ctx context.Context, r *registry) {
		r.editf(ctx, classAt(r.namespace, ""), `{"spec":{"serviceType":%q}}`, serviceType)
	}
}

func isRemovedFromItsCatalog(plan string) step {
	return func(ctx context.Context, r *registry) {
		r.editf(ctx, planAt(r.namespace, plan), `{"status":{"removedFromBrokerCatalog":true}}`)
	}
}

func returns(plan string) step {
	return func(ctx context.Context, r *registry) {
		r.editf(ctx, planAt(r.namespace, plan), `{"status":{"removedFromBrokerCatalog":false}}`)
	}
}

func theClassGoes(ctx context.Context, r *registry) { r.remove(ctx, classAt(r.namespace, "")) }

func theClassReturns(ctx context.Context, r *registry) { r.add(ctx, classAt(r.namespace, "mysql")) }

func deletesTheObject(ctx context.Context, r *registry) { r.remove(ctx, typeAt(r.namespace, "mysql")) }

func and(steps ...step) step {
	return func(ctx context.Context, r *registry) {
		for _, s := range steps {
			s(ctx, r)
		}
	}
}

// renew makes an annotation younger, as its manager does by writing another field.
func (r *registry) renew(plan string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.annotatedAt[client.ObjectKeyFromObject(planAt(r.namespace, plan)).String()] = time.Now()
}
