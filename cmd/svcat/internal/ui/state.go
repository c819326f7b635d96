package ui

import (
	"cmp"

	"github.com/defaultplan/defaultplan/api/v1beta1"
)

// stateOf is the state of an object in a word, and in the class of its colour.
func stateOf(conditions []v1beta1.Condition) (word, look string) {
	word = cmp.Or(v1beta1.LastConditionState(conditions), "Pending")
	switch word {
	case v1beta1.ConditionReady:
		return word, "good"
	case v1beta1.ConditionFailed:
		return word, "bad"
	}
	return word, "waiting"
}
