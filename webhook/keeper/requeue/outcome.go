package requeue

// An Outcome is the outcome of a touch, as a label value.
type Outcome string

// The outcomes.
const (
	Decided   Outcome = "decided"
	Undecided Outcome = "undecided"
	Denied    Outcome = "denied"
	Failed    Outcome = "failed"
	Gone      Outcome = "gone"
)
