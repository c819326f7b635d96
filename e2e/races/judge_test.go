package races_test

import (
	"fmt"
	"slices"
)

// accepted are the plans of which the write was stored.
func (m *match) accepted(made []attempt) []string {
	var plans []string
	for _, a := range made {
		if a.err == nil {
			plans = append(plans, a.plan)
		}
	}
	return plans
}

// judgeAttempts counts what came of the attempts, and says what is wrong with any.
func (m *match) judgeAttempts(made []attempt, webhookKilled bool) error {
	for _, a := range made {
		came, err := a.outcome()
		if err != nil {
			return fmt.Errorf("the write of %q got what no write should get: %w", a.plan, err)
		}
		m.outcomes[came]++
		if came == unheard && !webhookKilled {
			return fmt.Errorf("no webhook was killed, but the write of %q was not judged: %w", a.plan, a.err)
		}
		if came == outdated && !a.guarded {
			return fmt.Errorf("the write of %q named no version, but met another: %w", a.plan, a.err)
		}
		if came == refused {
			if err := m.namesHolder(a); err != nil {
				return err
			}
		}
	}
	return nil
}

// judgeRace says what is wrong with what happened in a round that these plans'
// writes were stored in.
func (m *match) judgeRace(moments []moment, wins []string) error {
	var recorded, first string
	for _, now := range moments {
		if err := now.believesOne(); err != nil {
			return err
		}
		if first == "" && len(now.Annotated) > 0 {
			first = now.Annotated[0]
		}
		for _, name := range now.Annotated {
			if !slices.Contains(wins, name) {
				return fmt.Errorf("at revision %d %q is annotated, whose write was not stored: %+v", now.revision, name, moments)
			}
		}
		if now.Record != recorded && recorded != "" {
			return fmt.Errorf("at revision %d the record changes from %q to %q, as no writer wanted: %+v", now.revision, recorded, now.Record, moments)
		}
		recorded = now.Record
	}
	if recorded != first {
		m.late++
	}
	if slices.ContainsFunc(moments, func(now moment) bool { return now.plan != "" && now.plan != recorded }) {
		m.withdrawn++
	}
	return nil
}

// stayedOff says what is wrong with how a default was cleared.
func stayedOff(moments []moment) error {
	for i := 1; i < len(moments); i++ {
		if now := moments[i]; now.Record != moments[i-1].Record && now.Record != "" {
			return fmt.Errorf("at revision %d %q is recorded while the default is cleared: %+v", now.revision, now.Record, moments)
		}
	}
	return staysOff(moments)
}

// staysOff says what is wrong while no writer turns anything on: an annotation
// that was taken off is back.
func staysOff(moments []moment) error {
	for i := 1; i < len(moments); i++ {
		before, now := moments[i-1], moments[i]
		if err := now.believesOne(); err != nil {
			return err
		}
		if slices.ContainsFunc(now.Annotated, func(name string) bool { return !slices.Contains(before.Annotated, name) }) {
			return fmt.Errorf("at revision %d an annotation that was taken off is back: %+v", now.revision, moments)
		}
	}
	return nil
}
