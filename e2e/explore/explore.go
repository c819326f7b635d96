package explore

import (
	"fmt"
	"strings"
)

// A Step is one thing that can happen in a state.
type Step[S any] struct {
	// Name says what happens, for traces.
	Name string
	To   S
	// Program says that a program takes the step by itself, sooner or later. All other steps are
	// those of users, crashes and faults, which may never happen.
	Program bool
	// Broken says which rule the step breaks; nil: none.
	Broken error
}

// A Model is a protocol. K identifies a state: two states with one key have the same future.
type Model[S any, K comparable] struct {
	Start S
	Key   func(S) K
	Steps func(S) []Step[S]
	// Check says which rule a state breaks; nil: none.
	Check func(S) error
	// Settled says what is unfinished in a state in which no program has anything to do; nil:
	// nothing.
	Settled func(S) error
	// MostStates ends an exploration that is larger than expected.
	MostStates int
}

// A Result is what an exploration found.
type Result struct {
	// States is how many there are, Ends in how many of them no program has anything to do, and
	// Depth how many steps the furthest is from the start.
	States, Ends, Depth int
	// Violation is the first rule that is broken, on the shortest way; nil: none is.
	Violation *Violation
}

// A Violation is a rule that is broken, and the steps from the start to there.
type Violation struct {
	Rule  string
	Trace []string
}

// Last is the last step of the trace.
func (v *Violation) Last() string { return v.Trace[len(v.Trace)-1] }

// String is the rule and the trace, a step on each line.
func (v *Violation) String() string {
	if v == nil {
		return "no violation"
	}
	return fmt.Sprintf("%s, after %d steps:\n%s", v.Rule, len(v.Trace), strings.Join(v.Trace, "\n"))
}

// Run explores a model until a rule is broken or every state was visited. Then it looks for
// states from which programs alone cannot come to an end.
func Run[S any, K comparable](m Model[S, K]) Result {
	x := exploration[S, K]{model: &m, known: map[K]int32{}}
	x.visit(m.Start, origin{from: none})
	for at := 0; at < len(x.queue) && x.result.Violation == nil; at++ {
		x.expand(int32(at))
	}
	if x.result.Violation == nil {
		x.findEndless()
	}
	x.result.States = len(x.origins)
	return x.result
}

// none is the index of no state.
const none = -1

// An origin is how a state was first reached.
type origin struct {
	from  int32
	depth int32
	how   string
}

type exploration[S any, K comparable] struct {
	model *Model[S, K]
	known map[K]int32
	// queue has the states that are still to be expanded; those that were are cleared.
	queue   []S
	origins []origin
	// programs are the states that the programs' steps lead to, and ends those without any.
	programs [][]int32
	ends     []int32
	result   Result
}

// visit returns the index of a state, which is new or known.
func (x *exploration[S, K]) visit(s S, o origin) int32 {
	key := x.model.Key(s)
	if at, is := x.known[key]; is {
		return at
	}
	at := int32(len(x.origins)) //nolint:gosec // MostStates is less
	x.known[key] = at
	x.queue, x.origins = append(x.queue, s), append(x.origins, o)
	x.result.Depth = max(x.result.Depth, int(o.depth))
	if err := x.model.Check(s); err != nil {
		x.violate(err.Error(), at)
	}
	if len(x.origins) > x.model.MostStates {
		x.violate(fmt.Sprintf("there are more than %d states", x.model.MostStates), at)
	}
	return at
}

func (x *exploration[S, K]) expand(at int32) {
	s := x.queue[at]
	var cleared S
	x.queue[at] = cleared
	var programs []int32
	for _, step := range x.model.Steps(s) {
		if step.Broken != nil {
			x.violate(step.Broken.Error(), at, step.Name)
			return
		}
		to := x.visit(step.To, origin{at, x.origins[at].depth + 1, step.Name})
		if x.result.Violation != nil {
			return
		}
		if step.Program && to != at {
			programs = append(programs, to)
		}
	}
	x.programs = append(x.programs, programs)
	if len(programs) > 0 {
		return
	}
	x.ends = append(x.ends, at)
	x.result.Ends++
	if err := x.model.Settled(s); err != nil {
		x.violate("unfinished: "+err.Error(), at)
	}
}

// findEndless finds the first state from which no end can be reached by the programs' steps.
func (x *exploration[S, K]) findEndless() {
	before := make([][]int32, len(x.programs))
	for at, all := range x.programs {
		for _, to := range all {
			before[to] = append(before[to], int32(at))
		}
	}
	ends := make([]bool, len(x.programs))
	for queue := x.ends; len(queue) > 0; queue = queue[1:] {
		if at := queue[0]; !ends[at] {
			ends[at] = true
			queue = append(queue, before[at]...)
		}
	}
	for at, is := range ends {
		if !is {
			x.violate("the programs never come to an end", int32(at))
			return
		}
	}
}

// violate remembers the first violation: the exploration is breadth first, so none is nearer.
func (x *exploration[S, K]) violate(rule string, at int32, further ...string) {
	if x.result.Violation == nil {
		x.result.Violation = &Violation{Rule: rule, Trace: append(x.trace(at), further...)}
	}
}

// trace are the steps from the start to a state.
func (x *exploration[S, K]) trace(at int32) []string {
	steps := make([]string, x.origins[at].depth)
	for ; x.origins[at].from != none; at = x.origins[at].from {
		steps[x.origins[at].depth-1] = x.origins[at].how
	}
	return steps
}
