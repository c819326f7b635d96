package options

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestRotationOptions(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason string
		edit   func(*Options)
		want   string
	}{
		"Defaults":        {reason: "they hold", edit: func(*Options) {}},
		"NoOverlap":       {reason: "that is lawful", edit: func(o *Options) { o.Rotation.Overlap = 0 }},
		"NegativeOverlap": {reason: "that is not", edit: func(o *Options) { o.Rotation.Overlap = -1 }, want: "--rotation-overlap"},
		"NoMargin":        {reason: "nor that", edit: func(o *Options) { o.Rotation.Margin = 0 }, want: "--rotation-margin"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := New()
			tc.edit(o)
			err := o.Validate()
			if tc.want == "" {
				require.NoError(t, err, tc.reason)
				return
			}
			require.ErrorContains(t, err, tc.want, tc.reason)
		})
	}
}

// Credentials that had expired when they were issued are not kept for an hour, however long failures are waited out.
func TestRotatingPause(t *testing.T) {
	t.Parallel()
	o := New()
	require.Equal(t, time.Hour, o.MaxRetry)
	require.Equal(t, 5*time.Minute, o.Rotating().Pause)
	o.MaxRetry = time.Second
	require.Equal(t, time.Second, o.Rotating().Pause)
}
