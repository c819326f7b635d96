package examiner

import (
	"context"
	"net/http"
	"slices"
	"time"
)

// An entry is what may exist at the broker, as a request for it was sent.
type entry struct {
	target

	plan string
	// plans are all that it may have.
	plans []string
}

// A ledger has what may exist, in the order in which it was asked for.
type ledger struct{ entries []*entry }

// open adds what a request may make.
func (l *ledger) open(t target, plan string) {
	l.entries = append(l.entries, &entry{target: t, plan: plan, plans: []string{plan}})
}

// find is the entry of a target; an empty one where it was never asked for.
func (l *ledger) find(t target) *entry {
	for _, each := range l.entries {
		if each.target == t {
			return each
		}
	}
	return &entry{target: t}
}

// close takes off what is gone.
func (l *ledger) close(t target) {
	l.entries = slices.DeleteFunc(l.entries, func(each *entry) bool { return each.target == t })
}

// may says that an instance may have another plan from now on.
func (n *entry) may(plan string) {
	if !slices.Contains(n.plans, plan) {
		n.plans = append(n.plans, plan)
	}
}

// cleanUp removes what may exist, bindings first. It takes no more than the patience, and says
// what is left.
func (e *runner) cleanUp() {
	ctx, cancel := context.WithTimeout(e.ctx, e.options.Patience)
	defer cancel()
	e.ctx = ctx
	rest := slices.Clone(e.ledger.entries)
	slices.Reverse(rest)
	slices.SortStableFunc(rest, func(a, b *entry) int { return rank(a) - rank(b) })
	// In rounds, so that what cannot be removed does not keep the rest.
	for len(rest) > 0 && ctx.Err() == nil {
		rest = slices.DeleteFunc(rest, e.removed)
		if len(rest) > 0 {
			e.wait(max(e.options.PollInterval, 10*time.Millisecond))
		}
	}
	for _, each := range rest {
		e.sheet.Leave(each.described())
	}
}

func rank(n *entry) int {
	if n.binding != "" {
		return 0
	}
	return 1
}

func (n *entry) described() string {
	if n.binding != "" {
		return "binding " + n.binding + " of instance " + n.instance
	}
	return "instance " + n.instance
}

// removed tries once to remove an entry, with each plan that the instance may have.
func (e *runner) removed(n *entry) bool {
	for _, plan := range slices.Backward(n.plans) {
		o := e.removal(n.target, plan)
		a, err := e.send(e.ctx, e.full(&o))
		switch {
		case err != nil:
		case a.status == http.StatusOK, a.status == http.StatusGone, a.status == http.StatusNotFound:
			return true
		case a.status == http.StatusAccepted:
			n.plan = plan
			if e.ended(&o, a) {
				return true
			}
		}
	}
	return false
}

// ended polls a removal without judging it.
func (e *runner) ended(o *operation, first answer) bool {
	judged := e.sheet
	defer func() { e.sheet = judged }()
	e.sheet = newScrap()
	return e.outlast(o, first, inProgress)
}
