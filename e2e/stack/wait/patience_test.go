package wait //nolint:testpackage // the factor is measured once in a process

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestPatienceOf(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		reason   string
		text     string
		measured float64
		want     float64
		invalid  bool
	}{
		"Measured": {reason: "the default", measured: 2.5, want: 2.5},
		"Fast":     {reason: "no timeout is shorter than written", measured: 0.4, want: 1},
		"Stopped":  {reason: "a machine that was suspended is not believed", measured: 1e6, want: mostPatience},
		"Given":    {reason: "what is given is not measured", text: "3", measured: 9, want: 3},
		"Word":     {reason: "said, and measured", text: "much", measured: 2, want: 2, invalid: true},
		"Hasty":    {reason: "less than 1 is a mistake", text: "0.5", measured: 2, want: 2, invalid: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := patienceOf(test.text, func() float64 { return test.measured })
			assert.InDelta(t, test.want, got, 0, test.reason)
			if test.invalid {
				assert.EqualError(t, err, `DEFAULTPLAN_PATIENCE="`+test.text+`" is not a number of at least 1`)
			} else {
				assert.NoError(t, err)
			}
		})
	}
}
