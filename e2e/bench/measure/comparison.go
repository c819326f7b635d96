package measure

import (
	"context"
	"fmt"
	"slices"
)

// A Batch does a fixed amount of work and returns what it cost or achieved.
type Batch func(context.Context) (float64, error)

// A Comparison is what pairs of batches gave.
type Comparison struct {
	// Ratio is the median of subject by base, pair by pair.
	Ratio float64
	// Subject and base are the medians of each.
	Subject, Base float64
	// low and high hold the middle half of the ratios.
	low, high float64
}

// Spread tells how far the pairs agree.
func (c *Comparison) Spread() string { return fmt.Sprintf("middle half %.2f to %.2f", c.low, c.high) }

// Compare runs the two batches in turns, after one of each that does not count.
// Every second pair begins with the other one, so that a drift of the machine
// favours neither.
func Compare(ctx context.Context, pairs int, subject, base Batch) (Comparison, error) {
	var ratios, subjects, bases []float64
	for i := range pairs + 1 {
		first, second := subject, base
		if i%2 == 1 {
			first, second = base, subject
		}
		x, err := first(ctx)
		if err != nil {
			return Comparison{}, err
		}
		y, err := second(ctx)
		if err != nil {
			return Comparison{}, err
		}
		if i == 0 {
			continue
		}
		if i%2 == 1 {
			x, y = y, x
		}
		ratios, subjects, bases = append(ratios, x/y), append(subjects, x), append(bases, y)
	}
	return Comparison{
		Ratio: Quantile(ratios, .5), low: Quantile(ratios, .25), high: Quantile(ratios, .75),
		Subject: Quantile(subjects, .5), Base: Quantile(bases, .5),
	}, nil
}

// Quantile is the value below which the part q of values lies, interpolated.
func Quantile(values []float64, q float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	at := q * float64(len(sorted)-1)
	below := int(at)
	if below+1 >= len(sorted) {
		return sorted[len(sorted)-1]
	}
	return sorted[below] + (at-float64(below))*(sorted[below+1]-sorted[below])
}
