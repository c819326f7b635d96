package explore_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/defaultplan/defaultplan/e2e/explore"
)

// A counter counts up to five by itself; a user may reset it once.
type counter struct {
	n     int
	reset bool
}

func counting(change func(*explore.Model[counter, counter])) explore.Model[counter, counter] {
	m := explore.Model[counter, counter]{
		Key: func(c counter) counter { return c },
		Steps: func(c counter) (all []explore.Step[counter]) {
			if c.n < 5 {
				all = append(all, explore.Step[counter]{Name: fmt.Sprintf("count to %d", c.n+1), To: counter{c.n + 1, c.reset}, Program: true})
			}
			if !c.reset {
				all = append(all, explore.Step[counter]{Name: "reset", To: counter{0, true}})
			}
			return all
		},
		Check:      func(counter) error { return nil },
		Settled:    func(counter) error { return nil },
		MostStates: 100,
	}
	change(&m)
	return m
}

func TestRun(t *testing.T) {
	t.Parallel()
	r := explore.Run(counting(func(*explore.Model[counter, counter]) {}))
	assert.Equal(t, explore.Result{States: 12, Ends: 2, Depth: 6}, r, "0 to 5 twice; the last is five, reset at once")
}

func TestViolations(t *testing.T) {
	t.Parallel()
	type model = explore.Model[counter, counter]
	for name, tc := range map[string]struct {
		reason string
		change func(*model)
		want   explore.Violation
	}{
		"State": {
			"a state that must not be", func(m *model) {
				m.Check = func(c counter) error {
					if c.reset && c.n == 1 {
						return errors.New("one after a reset")
					}
					return nil
				}
			},
			explore.Violation{Rule: "one after a reset", Trace: []string{"reset", "count to 1"}},
		},
		"Step": {
			"a step that must not be, shown by its name", func(m *model) {
				steps := m.Steps
				m.Steps = func(c counter) []explore.Step[counter] {
					all := steps(c)
					for i := range all {
						if all[i].To.n == 2 {
							all[i].Broken = errors.New("two")
						}
					}
					return all
				}
			},
			explore.Violation{Rule: "two", Trace: []string{"count to 1", "count to 2"}},
		},
		"Unfinished": {
			"an end that is none", func(m *model) {
				m.Settled = func(c counter) error {
					if c.reset {
						return errors.New("it was reset")
					}
					return nil
				}
			},
			explore.Violation{Rule: "unfinished: it was reset", Trace: []string{"reset", "count to 1", "count to 2", "count to 3", "count to 4", "count to 5"}},
		},
		"Endless": {
			"a circle that only users lead out of", func(m *model) {
				steps := m.Steps
				m.Steps = func(c counter) []explore.Step[counter] {
					all := steps(c)
					if c.n == 5 && c.reset {
						all = append(all, explore.Step[counter]{Name: "start over", To: counter{1, true}, Program: true})
					}
					return all
				}
			},
			explore.Violation{Rule: "the programs never come to an end", Trace: []string{"reset"}},
		},
		"TooMany": {
			"more states than expected", func(m *model) { m.MostStates = 2 },
			explore.Violation{Rule: "there are more than 2 states", Trace: []string{"reset"}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := explore.Run(counting(tc.change))
			require.NotNil(t, r.Violation, tc.reason)
			assert.Equal(t, tc.want, *r.Violation, tc.reason)
			assert.Equal(t, tc.want.Trace[len(tc.want.Trace)-1], r.Violation.Last())
		})
	}
}
