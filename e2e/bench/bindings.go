package main

import (
	"context"
	"fmt"

	"github.com/defaultplan/defaultplan/e2e/bench/catalog"
	"github.com/defaultplan/defaultplan/e2e/bench/measure"
	"github.com/defaultplan/defaultplan/e2e/bench/review"
	"github.com/defaultplan/defaultplan/webhook"
)

const (
	// boundInstance is the instance that the measured bindings are for.
	boundInstance = "payments-db"

	mutateBindingGoal   = 2.5
	validateBindingGoal = 1.8
	// bothPhasesGoal is the mean of the two.
	bothPhasesGoal = (mutateBindingGoal + validateBindingGoal) / 2
)

// measureBindings compares the processor time of one review of a binding, of the
// webhook and of the raw hook: the cache hot, with default parameters and a default
// transform.
func measureBindings(ctx context.Context, b *bench) error {
	return onSite(ctx, b, func(s *site) error {
		plain := &catalog.Family{Name: "plain", Plans: catalog.PlansPerFamily}
		if err := s.inventory.stock(ctx, plain); err != nil {
			return err
		}
		if err := s.inventory.bindable(ctx, plain); err != nil {
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
			hook review.Hook
			body []byte
			goal float64
		}{
			{"mutate a review of a binding", r.mutateBinding, of.mutate, mutateBindingGoal},
			{"validate a review of a binding, its instance read again", r.validateBinding, of.validate, validateBindingGoal},
		} {
			c, err := compareReviews(ctx, b, half.hook, r.raw, half.body)
			if err != nil {
				return err
			}
			b.table.Add(measure.Row{
				What: half.what, Value: c.Ratio, Unit: "×", Bound: measure.AtMost, Goal: half.goal,
				Detail: fmt.Sprintf("%.0f µs against %.0f µs of a raw hook; review of %d bytes; %s", c.Subject, c.Base, len(half.body), c.Spread()),
			})
		}
		return r.compareBoth(ctx, b)
	})
}

// compareBoth compares both phases of a create of a binding, of which one reads the instance, with as
// many reviews of the raw hook.
func (r *reviewSites) compareBoth(ctx context.Context, b *bench) error {
	var of [review.Reviewers]review.Both
	for i := range of {
		one, err := r.bindingBodies(ctx)
		if err != nil {
			return err
		}
		of[i] = review.Both{Mutate: one.mutate, Validate: one.validate}
	}
	size := b.size.reviews
	c, err := measure.Compare(ctx, b.rounds(size.pairs), r.mutateBinding.ReviewingBoth(r.validateBinding, of, size.batch), r.raw.ReviewingBoth(r.raw, of, size.batch))
	if err != nil {
		return err
	}
	b.table.Add(measure.Row{
		What: "both phases of a create of a binding", Value: c.Ratio, Unit: "×", Bound: measure.AtMost, Goal: bothPhasesGoal,
		Detail: fmt.Sprintf("%.0f µs against %.0f µs of two reviews of a raw hook; %s", c.Subject, c.Base, c.Spread()),
	})
	return nil
}

// bindingBodies asks the mutating half what the validating half will be shown.
func (r *reviewSites) bindingBodies(ctx context.Context) (bodies, error) {
	object := fmt.Appendf(nil, `{"apiVersion":"servicecatalog.k8s.io/v1beta1","kind":"ServiceBinding","metadata":{"name":"payments-db","namespace":%q,`+
		`"labels":{"app.kubernetes.io/managed-by":"Helm"},"creationTimestamp":null},"spec":{"instanceRef":{"name":%q},"parameters":{"user":"admin"}}}`,
		review.Namespace, boundInstance)
	toMutate, err := review.Of("ServiceBinding", "servicebindings", object)
	if err != nil {
		return bodies{}, err
	}
	answer, err := r.mutateBinding.Client.Post(ctx, r.mutateBinding.URL, toMutate)
	if err != nil {
		return bodies{}, err
	}
	if object, err = review.Mutated(object, answer); err != nil {
		return bodies{}, err
	}
	toValidate, err := review.Of("ServiceBinding", "servicebindings", object)
	return bodies{toMutate, toValidate}, err
}

// bindingHooks are the endpoints for bindings.
func bindingHooks(r *reviewSites, s *site) []endpoint {
	return []endpoint{
		{&r.mutateBinding, webhookProcess, s.WebhookURL(webhook.MutateBindings)},
		{&r.validateBinding, webhookProcess, s.WebhookURL(webhook.ValidateBindings)},
	}
}
