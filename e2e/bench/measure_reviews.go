package main

import (
	"context"
	"fmt"

	"github.com/defaultplan/defaultplan/webhook"
)

const (
	// reviewPairs and reviewBatch are how many pairs of batches, of how many
	// reviews, one ratio takes.
	reviewPairs = 25
	reviewBatch = 400

	mutateGoal   = 2.0
	validateGoal = 1.5

	// The slope is measured between two sizes of parameters, in bytes.
	slopePairs = 12
	slopeBatch = 200
	smallSize  = 2 << 10
	largeSize  = 34 << 10
)

// measureReviews compares the processor time of one review, of the webhook and
// of the raw hook: over HTTPS, the cache hot, a named plan with its defaults.
func measureReviews(ctx context.Context, b *bench) error {
	return b.onSite(ctx, func(s *site) error {
		plain := &family{name: "plain", plans: plansPerFamily}
		checked := &family{name: "checked", plans: plansPerFamily, schema: true}
		for _, f := range []*family{plain, checked} {
			if err := s.stock(ctx, f); err != nil {
				return err
			}
		}
		r, err := newReviewers(s)
		if err != nil {
			return err
		}
		if err := r.ratios(ctx, b, plain, checked); err != nil {
			return err
		}
		return r.slopes(ctx, b, plain)
	})
}

// reviewSites are the endpoints that are compared.
type reviewSites struct {
	mutate, validate, raw, rawTwice hook
	mutateBinding, validateBinding  hook
}

// An endpoint is a hook to be made of a process and a URL.
type endpoint struct {
	hook         *hook
	process, url string
}

func newReviewers(s *site) (*reviewSites, error) {
	var r reviewSites
	for _, endpoint := range append(bindingHooks(&r, s), []endpoint{
		{&r.mutate, webhookProcess, s.WebhookURL(webhook.MutateInstances)},
		{&r.validate, webhookProcess, s.WebhookURL(webhook.ValidateInstances)},
		{&r.raw, rawProcess, s.rawURL + rawPath},
		{&r.rawTwice, rawProcess, s.rawURL + rawTwicePath},
	}...) {
		var err error
		if *endpoint.hook, err = s.hook(endpoint.process, endpoint.url); err != nil {
			return nil, err
		}
	}
	return &r, nil
}

// bodies are the two reviews of one write.
type bodies struct{ mutate, validate []byte }

// bodiesOf asks the mutating half what the validating half will be shown.
func (r *reviewSites) bodiesOf(ctx context.Context, f *family, parameters string) (bodies, error) {
	object := arriving(named(f), parameters)
	toMutate, err := review(object)
	if err != nil {
		return bodies{}, err
	}
	answer, err := r.mutate.client.post(ctx, r.mutate.url, toMutate)
	if err != nil {
		return bodies{}, err
	}
	if object, err = mutated(object, answer); err != nil {
		return bodies{}, err
	}
	toValidate, err := review(object)
	return bodies{toMutate, toValidate}, err
}

func (r *reviewSites) ratios(ctx context.Context, b *bench, plain, checked *family) error {
	for _, half := range []struct {
		what   string
		family *family
		hook   hook
		bound  bound
		goal   float64
		body   func(bodies) []byte
	}{
		{"mutate a review, processor time", plain, r.mutate, atMost, mutateGoal, func(of bodies) []byte { return of.mutate }},
		{"validate a review", plain, r.validate, atMost, validateGoal, func(of bodies) []byte { return of.validate }},
		{"validate, with a schema check", checked, r.validate, told, 0, func(of bodies) []byte { return of.validate }},
	} {
		of, err := r.bodiesOf(ctx, half.family, userParameters)
		if err != nil {
			return err
		}
		body := half.body(of)
		c, err := compare(ctx, b.rounds(reviewPairs), half.hook.reviewing(body, reviewBatch), r.raw.reviewing(body, reviewBatch))
		if err != nil {
			return err
		}
		b.table.add(row{
			what: half.what, value: c.ratio, unit: "×", bound: half.bound, goal: half.goal,
			detail: fmt.Sprintf("%.0f µs against %.0f µs of a raw hook; review of %d bytes; %s", c.subject, c.base, len(body), c.spread()),
		})
	}
	return nil
}

// slopes compares what a further KB of parameters costs with what it costs to
// decode the object twice.
func (r *reviewSites) slopes(ctx context.Context, b *bench, f *family) error {
	small, err := r.bodiesOf(ctx, f, grown(smallSize))
	if err != nil {
		return err
	}
	large, err := r.bodiesOf(ctx, f, grown(largeSize))
	if err != nil {
		return err
	}
	for _, half := range []struct {
		what         string
		hook         hook
		small, large []byte
	}{
		{"mutate, per KB of parameters", r.mutate, small.mutate, large.mutate},
		{"validate, per KB of parameters", r.validate, small.validate, large.validate},
	} {
		c, err := compare(ctx, b.rounds(slopePairs), half.hook.slope(half.small, half.large), r.rawTwice.slope(half.small, half.large))
		if err != nil {
			return err
		}
		b.table.add(row{
			what: half.what, value: c.ratio, unit: "×", bound: atMost, goal: 1,
			detail: fmt.Sprintf("%.1f µs against %.1f µs of a raw hook that decodes the object twice; %s", c.subject, c.base, c.spread()),
		})
	}
	return nil
}

// slope is a batch that gives the processor time per KB by which two reviews
// differ.
func (h hook) slope(small, large []byte) batch {
	return func(ctx context.Context) (float64, error) {
		less, err := h.reviewing(small, slopeBatch)(ctx)
		if err != nil {
			return 0, err
		}
		more, err := h.reviewing(large, slopeBatch)(ctx)
		return (more - less) / (float64(len(large)-len(small)) / 1024), err
	}
}
