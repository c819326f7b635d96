package main

import (
	"context"
	"fmt"

	"github.com/defaultplan/defaultplan/e2e/bench/catalog"
	"github.com/defaultplan/defaultplan/e2e/bench/measure"
	"github.com/defaultplan/defaultplan/e2e/bench/rawhook"
	"github.com/defaultplan/defaultplan/e2e/bench/review"
	"github.com/defaultplan/defaultplan/webhook"
)

const (
	mutateGoal       = 2.0
	mutateByTypeGoal = 3.5
	validateGoal     = 1.5

	// The slope is measured between two sizes of parameters, in bytes.
	smallSize = 2 << 10
	largeSize = 34 << 10
)

// measureReviews compares the processor time of one review, of the webhook and
// of the raw hook: over HTTPS, the cache hot, a named plan with its defaults.
func measureReviews(ctx context.Context, b *bench) error {
	return onSite(ctx, b, func(s *site) error {
		plain := &catalog.Family{Name: "plain", Plans: catalog.PlansPerFamily}
		checked := &catalog.Family{Name: "checked", Plans: catalog.PlansPerFamily, Schema: true}
		suggested := &catalog.Family{Name: catalog.SuggestedFamily, Plans: catalog.PlansPerFamily, Suggested: true}
		for _, f := range []*catalog.Family{plain, checked, suggested} {
			if err := s.inventory.stock(ctx, f); err != nil {
				return err
			}
		}
		r, err := newReviewers(s)
		if err != nil {
			return err
		}
		if err := r.ratios(ctx, b, plain, checked, suggested); err != nil {
			return err
		}
		return r.slopes(ctx, b, plain)
	})
}

// reviewSites are the endpoints that are compared.
type reviewSites struct {
	mutate, validate, raw, rawTwice review.Hook
	mutateBinding, validateBinding  review.Hook
}

// An endpoint is a hook to be made of a process and a URL.
type endpoint struct {
	hook         *review.Hook
	process, url string
}

func newReviewers(s *site) (*reviewSites, error) {
	var r reviewSites
	for _, endpoint := range append(bindingHooks(&r, s), []endpoint{
		{&r.mutate, webhookProcess, s.WebhookURL(webhook.MutateInstances)},
		{&r.validate, webhookProcess, s.WebhookURL(webhook.ValidateInstances)},
		{&r.raw, rawProcess, s.rawURL + rawhook.Path},
		{&r.rawTwice, rawProcess, s.rawURL + rawhook.TwicePath},
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
func (r *reviewSites) bodiesOf(ctx context.Context, spec review.Spec, parameters string) (bodies, error) {
	object := review.Arriving(spec, parameters)
	toMutate, err := review.OfInstance(object)
	if err != nil {
		return bodies{}, err
	}
	answer, err := r.mutate.Client.Post(ctx, r.mutate.URL, toMutate)
	if err != nil {
		return bodies{}, err
	}
	if object, err = review.Mutated(object, answer); err != nil {
		return bodies{}, err
	}
	toValidate, err := review.OfInstance(object)
	return bodies{toMutate, toValidate}, err
}

func (r *reviewSites) ratios(ctx context.Context, b *bench, plain, checked, suggested *catalog.Family) error {
	for _, half := range []struct {
		what  string
		spec  review.Spec
		hook  review.Hook
		bound measure.Bound
		goal  float64
		body  func(bodies) []byte
	}{
		{"mutate a review, processor time", review.Named(plain), r.mutate, measure.AtMost, mutateGoal, func(of bodies) []byte { return of.mutate }},
		{"mutate, by a recorded type", review.ByType(plain), r.mutate, measure.AtMost, mutateByTypeGoal, func(of bodies) []byte { return of.mutate }},
		{"mutate, by a suggested type", review.ByType(suggested), r.mutate, measure.AtMost, mutateByTypeGoal, func(of bodies) []byte { return of.mutate }},
		{"validate a review", review.Named(plain), r.validate, measure.AtMost, validateGoal, func(of bodies) []byte { return of.validate }},
		{"validate, with a schema check", review.Named(checked), r.validate, measure.Told, 0, func(of bodies) []byte { return of.validate }},
	} {
		of, err := r.bodiesOf(ctx, half.spec, review.UserParameters)
		if err != nil {
			return err
		}
		body := half.body(of)
		c, err := compareReviews(ctx, b, half.hook, r.raw, body)
		if err != nil {
			return err
		}
		b.table.Add(measure.Row{
			What: half.what, Value: c.Ratio, Unit: "×", Bound: half.bound, Goal: half.goal,
			Detail: fmt.Sprintf("%.0f µs against %.0f µs of a raw hook; review of %d bytes; %s", c.Subject, c.Base, len(body), c.Spread()),
		})
	}
	return nil
}

// compareReviews compares the processor time of one review at two hooks.
func compareReviews(ctx context.Context, b *bench, subject, base review.Hook, body []byte) (measure.Comparison, error) {
	size := b.size.reviews
	return measure.Compare(ctx, b.rounds(size.pairs), subject.Reviewing(body, size.batch), base.Reviewing(body, size.batch))
}

// slopes compares what a further KB of parameters costs with what it costs to
// decode the object twice.
func (r *reviewSites) slopes(ctx context.Context, b *bench, f *catalog.Family) error {
	small, err := r.bodiesOf(ctx, review.Named(f), review.Grown(smallSize))
	if err != nil {
		return err
	}
	size := b.size.reviews
	large, err := r.bodiesOf(ctx, review.Named(f), review.Grown(largeSize))
	if err != nil {
		return err
	}
	for _, half := range []struct {
		what         string
		hook         review.Hook
		small, large []byte
	}{
		{"mutate, per KB of parameters", r.mutate, small.mutate, large.mutate},
		{"validate, per KB of parameters", r.validate, small.validate, large.validate},
	} {
		c, err := measure.Compare(ctx, b.rounds(size.slopePairs), half.hook.Slope(half.small, half.large, size.slopeBatch), r.rawTwice.Slope(half.small, half.large, size.slopeBatch))
		if err != nil {
			return err
		}
		b.table.Add(measure.Row{
			What: half.what, Value: c.Ratio, Unit: "×", Bound: measure.AtMost, Goal: 1,
			Detail: fmt.Sprintf("%.1f µs against %.1f µs of a raw hook that decodes the object twice; %s", c.Subject, c.Base, c.Spread()),
		})
	}
	return nil
}
