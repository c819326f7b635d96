package main

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/webhook"
)

// boundInstance is the instance that the measured bindings are for.
const boundInstance = "payments-db"

// measureBindings compares the processor time of one review of a binding, of the
// webhook and of the raw hook: the cache hot, with default parameters and a default
// transform.
func measureBindings(ctx context.Context, b *bench) error {
	return b.onSite(ctx, func(s *site) error {
		plain := &family{name: "plain", plans: plansPerFamily}
		if err := s.stock(ctx, plain); err != nil {
			return err
		}
		if err := s.bindable(ctx, plain); err != nil {
			return err
		}
		r, err := newReviewers(s)
		if err != nil {
			return err
		}
		of, err := r.bindingBodies(ctx)
		if err != nil {
			return err
		}
		for _, half := range []struct {
			what string
			hook hook
			body []byte
		}{
			{"mutate a review of a binding", r.mutateBinding, of.mutate},
			{"validate a review of a binding", r.validateBinding, of.validate},
		} {
			c, err := compare(ctx, b.rounds(reviewPairs), half.hook.reviewing(half.body, reviewBatch), r.raw.reviewing(half.body, reviewBatch))
			if err != nil {
				return err
			}
			b.table.add(row{
				what: half.what, value: c.ratio, unit: "×", bound: told,
				detail: fmt.Sprintf("%.0f µs against %.0f µs of a raw hook; review of %d bytes; %s", c.subject, c.base, len(half.body), c.spread()),
			})
		}
		return nil
	})
}

// bindable creates the instance that is bound to.
func (s *site) bindable(ctx context.Context, f *family) error {
	instance := &api.ServiceInstance{
		TypeMeta: typeMeta("ServiceInstance"), ObjectMeta: metav1.ObjectMeta{Namespace: oursNamespace, Name: boundInstance},
		Spec: api.ServiceInstanceSpec{ServiceType: f.name},
	}
	if err := s.Client().Create(ctx, instance); err != nil {
		return fmt.Errorf("cannot create instance %q: %w", boundInstance, err)
	}
	return nil
}

// bindingBodies asks the mutating half what the validating half will be shown.
func (r *reviewSites) bindingBodies(ctx context.Context) (bodies, error) {
	object := fmt.Appendf(nil, `{"apiVersion":"servicecatalog.k8s.io/v1beta1","kind":"ServiceBinding","metadata":{"name":"payments-db","namespace":%q,`+
		`"labels":{"app.kubernetes.io/managed-by":"Helm"},"creationTimestamp":null},"spec":{"instanceRef":{"name":%q},"parameters":{"user":"admin"}}}`,
		oursNamespace, boundInstance)
	toMutate, err := reviewOf("ServiceBinding", "servicebindings", object)
	if err != nil {
		return bodies{}, err
	}
	answer, err := r.mutateBinding.client.post(ctx, r.mutateBinding.url, toMutate)
	if err != nil {
		return bodies{}, err
	}
	if object, err = mutated(object, answer); err != nil {
		return bodies{}, err
	}
	toValidate, err := reviewOf("ServiceBinding", "servicebindings", object)
	return bodies{toMutate, toValidate}, err
}

// bindingHooks are the endpoints for bindings.
func bindingHooks(r *reviewSites, s *site) []endpoint {
	return []endpoint{
		{&r.mutateBinding, webhookProcess, s.WebhookURL(webhook.MutateBindings)},
		{&r.validateBinding, webhookProcess, s.WebhookURL(webhook.ValidateBindings)},
	}
}
