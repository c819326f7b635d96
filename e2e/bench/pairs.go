package main

import (
	"context"
	"fmt"
	"slices"
)

// A batch does a fixed amount of work and returns what it cost or achieved.
type batch func(context.Context) (float64, error)

// A comparison is what pairs of batches gave.
type comparison struct {
	// ratio is the median of subject by base, pair by pair.
	ratio float64
	// subject and base are the medians of each.
	subject, base float64
	// low and high hold the middle half of the ratios.
	low, high float64
}

// spread tells how far the pairs agree.
func (c *comparison) spread() string { return fmt.Sprintf("middle half %.2f to %.2f", c.low, c.high) }

// compare runs the two batches in turns, after one of each that does not count.
// Every second pair begins with the other one, so that a drift of the machine
// favours neither.
func compare(ctx context.Context, pairs int, subject, base batch) (comparison, error) {
	var ratios, subjects, bases []float64
	for i := range pairs + 1 {
		first, second := subject, base
		if i%2 == 1 {
			first, second = base, subject
		}
		x, err := first(ctx)
		if err != nil {
			return comparison{}, err
		}
		y, err := second(ctx)
		if err != nil {
			return comparison{}, err
		}
		if i == 0 {
			continue
		}
		if i%2 == 1 {
			x, y = y, x
		}
		ratios, subjects, bases = append(ratios, x/y), append(subjects, x), append(bases, y)
	}
	return comparison{
		ratio: quantile(ratios, .5), low: quantile(ratios, .25), high: quantile(ratios, .75),
		subject: quantile(subjects, .5), base: quantile(bases, .5),
	}, nil
}

// quantile is the value below which the part q of values lies, interpolated.
func quantile(values []float64, q float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	at := q * float64(len(sorted)-1)
	below := int(at)
	if below+1 >= len(sorted) {
		return sorted[len(sorted)-1]
	}
	return sorted[below] + (at-float64(below))*(sorted[below+1]-sorted[below])
}
