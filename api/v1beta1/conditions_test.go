package v1beta1

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestSetCondition(t *testing.T) {
	t.Parallel()
	before := metav1.NewTime(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC))
	now := metav1.NewTime(before.Add(time.Hour))
	stamped := func(c Condition, generation int64, at metav1.Time) Condition {
		c.ObservedGeneration, c.LastTransitionTime = generation, at
		return c
	}
	failed := stamped(Condition{Type: ConditionFailed, Status: ConditionFalse}, 1, before)
	cases := map[string]struct {
		reason string
		have   []Condition
		set    Condition
		want   []Condition
	}{
		"First": {
			reason: "a condition of a new type is appended, stamped",
			set:    Waiting("Provisioning", "the broker works on it"),
			want:   []Condition{stamped(Waiting("Provisioning", "the broker works on it"), 2, now)},
		},
		"SameStatusKeepsItsTime": {
			reason: "another reason alone is no transition",
			have:   []Condition{failed, stamped(NotReady("A", ""), 1, before)},
			set:    NotReady("B", ""),
			want:   []Condition{failed, stamped(NotReady("B", ""), 2, before)},
		},
		"NewStatusTakesTheTime": {
			reason: "a transition is stamped, in the place of the old one",
			have:   []Condition{stamped(Unresolved("A", ""), 1, before), failed},
			set:    Resolved("B", ""),
			want:   []Condition{stamped(Resolved("B", ""), 2, now), failed},
		},
		"ReadyIsLast": {
			reason: "old clients print the last one",
			have:   []Condition{stamped(NotReady("A", ""), 1, before)},
			set:    Reconciling("A", ""),
			want:   []Condition{stamped(Reconciling("A", ""), 2, now), stamped(NotReady("A", ""), 1, before)},
		},
		"FailedIsLastOfAll": {
			reason: "where it is True",
			have:   []Condition{stamped(Failed("A", ""), 1, before), stamped(NotReady("A", ""), 1, before), stamped(Resolved("B", ""), 1, before)},
			set:    Stalled("A", ""),
			want: []Condition{
				stamped(Resolved("B", ""), 1, before), stamped(Stalled("A", ""), 2, now),
				stamped(NotReady("A", ""), 1, before), stamped(Failed("A", ""), 1, before),
			},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			given := append([]Condition(nil), tc.have...)
			got := SetCondition(tc.have, tc.set, 2, now)
			assert.Empty(t, cmp.Diff(tc.want, got), tc.reason)
			assert.Empty(t, cmp.Diff(given, tc.have), "the given list was written to")
		})
	}
}

func TestFindCondition(t *testing.T) {
	t.Parallel()
	list := []Condition{Ready("A", ""), Resolved("B", "")}
	found, ok := FindCondition(list, ConditionResolved)
	assert.True(t, ok)
	assert.Equal(t, "B", found.Reason)
	_, ok = FindCondition(list, ConditionFailed)
	assert.False(t, ok)
}
