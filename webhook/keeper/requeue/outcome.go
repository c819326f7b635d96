package requeue

// An Outcome is what a touch led to, as the metric's label says it.
type Outcome string

// The outcomes.
const (
	Decided   Outcome = "decided"
	Undecided Outcome = "undecided"
	Denied    Outcome = "denied"
	Failed    Outcome = "failed"
	Gone      Outcome = "gone"
)
