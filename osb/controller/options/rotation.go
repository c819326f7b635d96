package options

import (
	"fmt"
	"time"

	"github.com/spf13/pflag"
)

// RotationOptions are the settings of credential rotation.
type RotationOptions struct {
	// Overlap is how long the former credentials stay valid, where a binding does not say
	// otherwise; 0: not at all.
	Overlap time.Duration
	// Margin is the longest time before their expiry that credentials are replaced.
	Margin time.Duration
}

// newRotationOptions returns the defaults. An overlap of an hour is for
// programs that read their Secret only at start; a volume is updated within two
// minutes.
func newRotationOptions() RotationOptions {
	return RotationOptions{Overlap: time.Hour, Margin: 7 * 24 * time.Hour}
}

func (o *RotationOptions) bind(flags *pflag.FlagSet) {
	flags.DurationVar(&o.Overlap, "rotation-overlap", o.Overlap,
		"how long former credentials stay valid after the Secret has new ones, where spec.rotation.overlap does not say otherwise")
	flags.DurationVar(&o.Margin, "rotation-margin", o.Margin,
		"longest time before their expiry that credentials are replaced; it is a third of their lifetime at most")
}

func (o *RotationOptions) validate() error {
	switch {
	case o.Overlap < 0:
		return fmt.Errorf("--rotation-overlap is %s; allowed is 0 or more, such as 1h", o.Overlap)
	case o.Margin <= 0:
		return fmt.Errorf("--rotation-margin is %s; allowed is more than nothing, such as 24h", o.Margin)
	}
	return nil
}
