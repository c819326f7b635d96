package defaults

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"k8s.io/apimachinery/pkg/types"
)

// at is a time of day.
func at(hour int) time.Time { return time.Date(2026, 1, 1, hour, 0, 0, 0, time.UTC) }

// plain, annotated and so on are plans in the rows of the tables.
func plain(name string) contender { return contender{name: name, uid: types.UID(name)} }

func annotated(name string, hour int) contender {
	return contender{name: name, uid: types.UID(name), annotated: true, annotatedAt: at(hour)}
}

func in(state planState, c contender) contender {
	c.state = state
	return c
}

// The first keeper ran at noon in every row.
func TestSettle(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason string
		given  state
		want   action
	}{
		"NothingThere": {
			reason: "a type that is not used has no object",
			want:   action{verb: rest},
		},
		"InUse": {
			reason: "types in use have an object",
			given:  state{inUse: true, contenders: []contender{plain("p")}},
			want:   action{verb: createType},
		},
		"InUseAndThere": {
			reason: "no plan is annotated as the default",
			given:  state{inUse: true, exists: true, ours: true, contenders: []contender{plain("p")}},
			want:   action{verb: rest},
		},
		"NotInUseAnyMore": {
			reason: "what the keeper made it removes",
			given:  state{exists: true, ours: true},
			want:   action{verb: removeType},
		},
		"NotInUseOfAnother": {
			reason: "what another client made stays",
			given:  state{exists: true},
			want:   action{verb: rest},
		},
		"BeingDeleted": {
			reason: "it records nothing, and there cannot be two of a name",
			given:  state{exists: true, ending: true, inUse: true, contenders: []contender{annotated("p", 13)}},
			want:   action{verb: rest},
		},
		"OneAnnotated": {
			reason: "a stored annotation and no record: the record is made",
			given:  state{inUse: true, contenders: []contender{plain("a"), annotated("p", 13)}},
			want:   action{verb: recordPlan, plan: "p"},
		},
		"OneAnnotatedBeforeTheFirstRun": {
			reason: "one alone leaves no doubt",
			given:  state{inUse: true, contenders: []contender{annotated("p", 11)}},
			want:   action{verb: recordPlan, plan: "p"},
		},
		"AnnotatedButDormant": {
			reason: "what cannot be chosen is not recorded",
			given:  state{exists: true, contenders: []contender{in(planDormant, annotated("p", 13))}},
			want:   action{verb: rest},
		},
		"AnnotatedButLeaving": {
			reason: "what is being deleted is not recorded",
			given:  state{exists: true, contenders: []contender{in(planLeaving, annotated("p", 13))}},
			want:   action{verb: rest},
		},
		"RaceByTime": {
			reason: "the first to be annotated is the default",
			given:  state{inUse: true, contenders: []contender{annotated("a", 14), annotated("p", 13)}},
			want:   action{verb: recordPlan, plan: "p"},
		},
		"RaceByUID": {
			reason: "times are in whole seconds",
			given:  state{inUse: true, contenders: []contender{annotated("b", 13), annotated("a", 13)}},
			want:   action{verb: recordPlan, plan: "a"},
		},
		"RaceAtTheFirstRun": {
			reason: "in the second of the first run a keeper was there",
			given:  state{inUse: true, contenders: []contender{annotated("a", 12), annotated("b", 12)}},
			want:   action{verb: recordPlan, plan: "a"},
		},
		"OneBeforeAndOneAfterTheFirstRun": {
			reason: "the older could not be recorded yet; it was there first",
			given:  state{inUse: true, contenders: []contender{annotated("a", 13), annotated("p", 11)}},
			want:   action{verb: recordPlan, plan: "p"},
		},
		"Legacy": {
			reason: "only the operator knows which of two old ones people count on",
			given:  state{inUse: true, exists: true, contenders: []contender{annotated("a", 10), annotated("b", 11)}},
			want:   action{verb: rest, awaiting: true},
		},
		"LegacyWithoutObject": {
			reason: "somewhere it must be said",
			given:  state{inUse: true, contenders: []contender{annotated("a", 10), annotated("b", 11)}},
			want:   action{verb: createType, awaiting: true},
		},
		"LegacyAndANewOne": {
			reason: "two old ones are in doubt whatever came since",
			given:  state{inUse: true, exists: true, contenders: []contender{annotated("a", 10), annotated("b", 11), annotated("c", 13)}},
			want:   action{verb: rest, awaiting: true},
		},
		"LegacyEditedSince": {
			reason: "an edit of something else renews the time of an annotation",
			given:  state{inUse: true, exists: true, awaiting: true, contenders: []contender{annotated("a", 13), annotated("b", 14)}},
			want:   action{verb: rest, awaiting: true},
		},
		"LegacySettledByAnnotation": {
			reason: "the operator took one off",
			given:  state{inUse: true, exists: true, awaiting: true, contenders: []contender{plain("a"), annotated("b", 11)}},
			want:   action{verb: recordPlan, plan: "b"},
		},
		"LegacySettledByRecord": {
			reason: "the operator recorded one",
			given:  state{inUse: true, exists: true, awaiting: true, recorded: "b", contenders: []contender{annotated("a", 10), annotated("b", 11)}},
			want:   action{verb: confirmRecord, plan: "b"},
		},
		"RecordedAndAnnotated": {
			reason: "they agree, and that is remembered",
			given:  state{inUse: true, exists: true, recorded: "p", contenders: []contender{annotated("p", 13)}},
			want:   action{verb: confirmRecord, plan: "p"},
		},
		"Settled": {
			reason: "all is as it should be",
			given:  state{inUse: true, exists: true, recorded: "p", confirmed: true, contenders: []contender{plain("a"), annotated("p", 13)}},
			want:   action{verb: rest},
		},
		"SecondBesideTheRecord": {
			reason: "it never was the default",
			given:  state{inUse: true, exists: true, recorded: "p", confirmed: true, contenders: []contender{annotated("a", 10), annotated("p", 13)}},
			want:   action{verb: unannotatePlan, plan: "a"},
		},
		"DormantSecondBesideTheRecord": {
			reason: "it would contend when it comes back",
			given:  state{inUse: true, exists: true, recorded: "p", confirmed: true, contenders: []contender{in(planDormant, annotated("a", 10)), annotated("p", 13)}},
			want:   action{verb: unannotatePlan, plan: "a"},
		},
		"LeavingSecondBesideTheRecord": {
			reason: "it goes by itself",
			given:  state{inUse: true, exists: true, recorded: "p", confirmed: true, contenders: []contender{in(planLeaving, annotated("a", 10)), annotated("p", 13)}},
			want:   action{verb: rest},
		},
		"SwitchJustRecorded": {
			reason: "a switch that went no further is finished: the new one first",
			given:  state{inUse: true, exists: true, recorded: "p", contenders: []contender{annotated("a", 10), plain("p")}},
			want:   action{verb: annotatePlan, plan: "p"},
		},
		"SwitchAnnotated": {
			reason: "from here on the new one can be taken off",
			given:  state{inUse: true, exists: true, recorded: "p", contenders: []contender{annotated("a", 10), annotated("p", 13)}},
			want:   action{verb: confirmRecord, plan: "p"},
		},
		"RecordedByHand": {
			reason: "a user who may write the record chooses by it",
			given:  state{inUse: true, exists: true, recorded: "p", contenders: []contender{plain("p")}},
			want:   action{verb: annotatePlan, plan: "p"},
		},
		"AnnotationTakenOff": {
			reason: "they agreed, so this is not a switch half done",
			given:  state{inUse: true, exists: true, recorded: "p", confirmed: true, contenders: []contender{plain("p")}},
			want:   action{verb: clearRecord, plan: "p", why: "its annotation was taken off"},
		},
		"AnnotationTakenOffBeforeItWasConfirmed": {
			reason: "the record followed it, so this is no switch either",
			given:  state{inUse: true, exists: true, recorded: "p", followed: true, contenders: []contender{plain("p")}},
			want:   action{verb: clearRecord, plan: "p", why: "its annotation was taken off"},
		},
		"AnnotationTakenOffADormantPlan": {
			reason: "its user wants no default when it comes back",
			given:  state{exists: true, recorded: "p", confirmed: true, contenders: []contender{in(planDormant, plain("p"))}},
			want:   action{verb: clearRecord, plan: "p", why: "its annotation was taken off"},
		},
		"RecordClearedByHand": {
			reason: "the annotation stands, so it is recorded again",
			given:  state{inUse: true, exists: true, contenders: []contender{annotated("p", 13)}},
			want:   action{verb: recordPlan, plan: "p"},
		},
		"PlanDeleted": {
			reason: "it does not come back",
			given:  state{inUse: true, exists: true, recorded: "p", confirmed: true, contenders: []contender{plain("a")}},
			want:   action{verb: clearRecord, plan: "p", why: "it does not exist"},
		},
		"PlanDeletedWithAnHeir": {
			reason: "one write leads from one to the other",
			given:  state{inUse: true, exists: true, recorded: "p", contenders: []contender{annotated("b", 14), annotated("a", 13)}},
			want:   action{verb: recordPlan, plan: "a", former: "p", why: "it does not exist"},
		},
		"PlanLeaving": {
			reason: "a plan that is being deleted is never chosen",
			given:  state{exists: true, recorded: "p", confirmed: true, contenders: []contender{in(planLeaving, annotated("p", 13))}},
			want:   action{verb: clearRecord, plan: "p", why: "it is being deleted"},
		},
		"PlanOfAnotherTypeNow": {
			reason: "its annotation counts there",
			given:  state{exists: true, recorded: "p", confirmed: true, contenders: []contender{in(planForeign, annotated("p", 13))}},
			want:   action{verb: clearRecord, plan: "p", why: "it is not of this type"},
		},
		"PlanOfAnotherTypeNowWithAnHeir": {
			reason: "the one that is annotated is the default",
			given:  state{inUse: true, exists: true, recorded: "p", contenders: []contender{in(planForeign, annotated("p", 13)), annotated("a", 14)}},
			want:   action{verb: recordPlan, plan: "a", former: "p", why: "it is not of this type"},
		},
		"PlanRemovedFromItsCatalog": {
			reason: "it may come back",
			given:  state{exists: true, ours: true, recorded: "p", confirmed: true, contenders: []contender{in(planDormant, annotated("p", 13))}},
			want:   action{verb: rest},
		},
		"PlanRemovedBeforeItsSwitchWasDone": {
			reason: "what cannot be chosen is not annotated",
			given:  state{exists: true, recorded: "p", contenders: []contender{in(planDormant, plain("p"))}},
			want:   action{verb: rest},
		},
		"PlanRemovedAndAnotherAnnotated": {
			reason: "there is a default that can be chosen",
			given:  state{inUse: true, exists: true, recorded: "p", confirmed: true, contenders: []contender{in(planDormant, annotated("p", 13)), annotated("a", 14)}},
			want: action{verb: recordPlan, plan: "a", former: "p",
				why: "it cannot be chosen any more, and another is annotated"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tc.given.firstRun = at(12)
			assert.Equal(t, tc.want, settle(tc.given), tc.reason)
			slices.Reverse(tc.given.contenders)
			assert.Equal(t, tc.want, settle(tc.given), "whatever the order of the plans")
		})
	}
}
