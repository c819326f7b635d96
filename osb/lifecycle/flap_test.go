package lifecycle

import (
	"maps"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/osb"
)

// The same failing response, again and again, changes no condition once it was told.
func TestNoFlap(t *testing.T) {
	t.Parallel()
	tell := func(t *testing.T, a *sequence, fail func(*sequence)) {
		t.Helper()
		seen := map[string]string{}
		for round := range 8 {
			d := Next(a.resource, a.later())
			if d.Step == Rest && d.After == 0 {
				return // terminal
			}
			a.now = a.now.Add(24 * time.Hour)
			a.does(d.Step)
			phase := d.Step.String()
			intent := snapshotOf(&a.decision.Record)
			fail(a)
			if round > 3 { // a call and what undoes it, twice
				require.Contains(t, []string{"", seen[phase]}, intent, phase)
				assert.Contains(t, []string{"", seen[phase+" told"]}, snapshotOf(&a.resource.Record), phase)
			}
			seen[phase], seen[phase+" told"] = intent, snapshotOf(&a.resource.Record)
			c, _ := v1beta1.FindCondition(a.resource.Record.Conditions, v1beta1.ConditionReady)
			require.Equal(t, v1beta1.ConditionFalse, c.Status, "%s: %s", phase, c.Reason)
		}
	}
	for name, e := range both(refusals, doubts) {
		for step, start := range map[string]func(t *testing.T) *sequence{
			"Make":    func(t *testing.T) *sequence { return newSequence(t, anInstance) },
			"Bind":    func(t *testing.T) *sequence { return newSequence(t, aBinding) },
			"Adopted": func(t *testing.T) *sequence { return newSequence(t, scenario{kind: Instance}) },
			"AdoptedOnly": func(t *testing.T) *sequence {
				return newSequence(t, scenario{kind: Instance, fetchable: true, adopting: true})
			},
			"Change": func(t *testing.T) *sequence { a := ready(t, anInstance); a.edit(); return a },
			"Remove": func(t *testing.T) *sequence { a := ready(t, anInstance); a.resource.Deleting = true; return a },
		} {
			t.Run(step+name, func(t *testing.T) {
				t.Parallel()
				a := start(t)
				tell(t, a, func(a *sequence) {
					if a.decision.Step == MitigateOrphan {
						a.answers(osb.Response{})
						return
					}
					a.fails(e)
				})
			})
		}
	}
}

func both(a, b map[string]osb.Error) map[string]osb.Error {
	all := map[string]osb.Error{}
	for _, m := range []map[string]osb.Error{a, b} {
		maps.Copy(all, m)
	}
	return all
}

// snapshotOf is what people see of conditions, sorted out of their order.
func snapshotOf(r *Record) string {
	var text string
	for _, typ := range []string{"Ready", "Failed", "OrphanMitigation", "Reconciling", "Stalled"} {
		if c, ok := v1beta1.FindCondition(r.Conditions, typ); ok {
			text += typ + "=" + string(c.Status) + " " + c.Reason + ": " + c.Message + "\n"
		}
	}
	return text
}

// An asynchronous removal that fails again and again stays not ready while it is tried.
func TestNoFlapOfAsyncRemovals(t *testing.T) {
	t.Parallel()
	a := ready(t, anInstance)
	a.resource.Deleting = true
	for round := range 5 {
		a.does(Deprovision).answers(osb.Response{Async: true})
		c, _ := v1beta1.FindCondition(a.resource.Record.Conditions, v1beta1.ConditionReady)
		if round > 0 {
			require.Equal(t, v1beta1.ConditionFalse, c.Status, "round %d", round)
		}
		a.does(Poll).polls(osb.LastOperation{State: osb.Failed, Description: "no"})
		c, _ = v1beta1.FindCondition(a.resource.Record.Conditions, v1beta1.ConditionReady)
		require.Equal(t, v1beta1.ConditionFalse, c.Status)
		a.now = a.now.Add(time.Hour)
	}
}
