package keeper_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
)

// A recorderCase is something that happens to a type's default, and what becomes
// of it.
type recorderCase struct {
	reason string
	// before is what was stored before a keeper ever ran.
	before []string
	// happens is what people and brokers do, one step after the other, each once
	// the keeper is done with the one before.
	happens []step
	want    string
	// redis is what becomes of the default of that type.
	redis string
	// events are those that the last step led to.
	events []string
}

// Plans a and b are of class c1, which is of type mysql. Each case is played in
// the cluster's scope and in a namespace's. The same cases are docs/defaults.md's.
func recorderCases() map[string]recorderCase {
	return map[string]recorderCase{
		"Nothing": {
			reason: "a type in use has its object",
			want:   "none recorded, none annotated",
		},
		"Set": {
			reason:  "a stored annotation is recorded, and that they agree is remembered",
			happens: []step{annotates("a")},
			want:    "a recorded and confirmed, a annotated",
			events:  []string{`a Normal DefaultRecorded is the default plan of type "mysql" now`},
		},
		"Second": {
			reason:  "it never was the default, although no webhook refused it",
			happens: []step{annotates("a"), annotates("b")},
			want:    "a recorded and confirmed, a annotated",
			events: []string{
				`a Normal DefaultRepaired is recorded as the default plan of type "mysql": plan "b", which was annotated so too, is not any more`,
				`b Normal DefaultRepaired is not annotated as the default plan of type "mysql" any more: plan "a" is recorded so (to switch: COMMAND)`,
			},
		},
		"Race": {
			reason:  "two in the same second: the UID decides",
			happens: []step{annotates("b", "a")},
			want:    "a recorded and confirmed, a annotated",
		},
		"Switch": {
			reason:  "by one write of the record; the annotations follow",
			happens: []step{annotates("a"), records("b")},
			want:    "b recorded and confirmed, b annotated",
			events: []string{
				`a Normal DefaultRepaired is not annotated as the default plan of type "mysql" any more: plan "b" is recorded so (to switch: COMMAND)`,
				`b Normal DefaultRepaired is annotated as the default plan of type "mysql", because it is recorded so`,
				`b Normal DefaultRepaired is recorded as the default plan of type "mysql": plan "a", which was annotated so too, is not any more`,
			},
		},
		"SwitchByItself": {
			reason:  "the keeper and who switched do the same",
			happens: []step{annotates("a"), and(records("b"), annotates("b"), takesOff("a"))},
			want:    "b recorded and confirmed, b annotated",
		},
		"SwitchThatDiedAfterTheSecondStep": {
			reason:  "the keeper takes the third",
			happens: []step{annotates("a"), and(records("b"), annotates("b"))},
			want:    "b recorded and confirmed, b annotated",
		},
		"SwitchThereAndBack": {
			reason:  "the last record counts",
			happens: []step{annotates("a"), and(records("b"), records("a"))},
			want:    "a recorded and confirmed, a annotated",
		},
		"Cleared": {
			reason:  "the annotation is taken off the default",
			happens: []step{annotates("a"), takesOff("a")},
			want:    "none recorded, none annotated",
			events: []string{
				`a Normal DefaultCleared is not the default plan of type "mysql" any more: its annotation was taken off`,
				`mysql Normal DefaultCleared plan "a" is not the default plan of type "mysql" any more: its annotation was taken off`,
			},
		},
		"PlanDeleted": {
			reason:  "there is no default then",
			happens: []step{annotates("a"), deletesPlan("a")},
			want:    "none recorded, none annotated",
			events:  []string{`mysql Normal DefaultCleared plan "a" is not the default plan of type "mysql" any more: it does not exist`},
		},
		"PlanDeletedBesideAnother": {
			reason:  "what is annotated is the default",
			happens: []step{annotates("a"), and(annotates("b"), deletesPlan("a"))},
			want:    "b recorded and confirmed, b annotated",
		},
		"PlansTypeChanged": {
			reason:  "it is no default of the type that it has no more, and its annotation counts for the one that it has",
			happens: []step{annotates("a"), retypes("a", "redis")},
			want:    "none recorded, a annotated",
			redis:   "a recorded and confirmed, a annotated",
		},
		"PlansTypeChangedAndBack": {
			reason:  "its annotation counts for the type that it has",
			happens: []step{annotates("a"), retypes("a", "redis"), retypes("a", "")},
			want:    "a recorded and confirmed, a annotated",
			redis:   "no object, a annotated",
		},
		"ClassesTypeChanged": {
			reason:  "its plans are of another type now; nothing is of this one",
			happens: []step{annotates("a"), retypesClass("redis")},
			want:    "no object, a annotated",
			redis:   "a recorded and confirmed, a annotated",
		},
		"ClassesTypeTakenAway": {
			reason:  "a plan without a type is its class's default at most",
			happens: []step{annotates("a"), retypesClass("")},
			want:    "no object, a annotated",
		},
		"RecordedByHand": {
			reason:  "who may write the record chooses by it",
			happens: []step{records("b")},
			want:    "b recorded and confirmed, b annotated",
		},
		"RecordedByHandAbsent": {
			reason:  "what does not exist is no default",
			happens: []step{records("x")},
			want:    "none recorded, none annotated",
		},
		"RecordedByHandAbsentBesideADefault": {
			reason:  "the annotated plan is the default again",
			happens: []step{annotates("a"), records("x")},
			want:    "a recorded and confirmed, a annotated",
		},
		"RecordedByHandForeign": {
			reason:  "a plan of another type is no default",
			happens: []step{retypes("b", "redis"), records("b")},
			want:    "none recorded, none annotated",
		},
		"ClearedByHand": {
			reason:  "the annotation still stands",
			happens: []step{annotates("a"), clears},
			want:    "a recorded and confirmed, a annotated",
		},
		"ClearedByHandAndByAnnotation": {
			reason:  "both are gone",
			happens: []step{annotates("a"), and(clears, takesOff("a"))},
			want:    "none recorded, none annotated",
		},
		"RecordAndAnnotationDisagree": {
			reason:  "the record decides, the annotation follows",
			happens: []step{and(records("a"), annotates("b"))},
			want:    "a recorded and confirmed, a annotated",
		},
		"ObjectDeleted": {
			reason:  "it is made again, and the annotation recorded",
			happens: []step{annotates("a"), deletesTheObject},
			want:    "a recorded and confirmed, a annotated",
		},
		"RemovedFromItsCatalog": {
			reason:  "it may come back",
			happens: []step{annotates("a"), isRemovedFromItsCatalog("a")},
			want:    "a recorded and confirmed, a annotated",
		},
		"RemovedFromItsCatalogAndReturned": {
			reason:  "it is the default as before",
			happens: []step{annotates("a"), isRemovedFromItsCatalog("a"), returns("a")},
			want:    "a recorded and confirmed, a annotated",
		},
		"RemovedFromItsCatalogAndAnotherAnnotated": {
			reason:  "a default that can be chosen comes first, and the other does not contend when it returns",
			happens: []step{annotates("a"), isRemovedFromItsCatalog("a"), annotates("b"), returns("a")},
			want:    "b recorded and confirmed, b annotated",
		},
		"RemovedFromItsCatalogAndDeleted": {
			reason:  "it does not come back",
			happens: []step{annotates("a"), isRemovedFromItsCatalog("a"), deletesPlan("a")},
			want:    "none recorded, none annotated",
		},
		"ClassGone": {
			reason:  "it may come back, and until then nothing is known of its plans' type",
			happens: []step{annotates("a"), theClassGoes},
			want:    "a recorded and confirmed, a annotated",
		},
		"ClassGoneAndReturned": {
			reason:  "all is as before",
			happens: []step{annotates("a"), theClassGoes, theClassReturns},
			want:    "a recorded and confirmed, a annotated",
		},
		"ClassGoneThenThePlan": {
			reason:  "nothing but the record connects the two by then",
			happens: []step{annotates("a"), theClassGoes, and(deletesPlan("a"), deletesPlan("b"))},
			want:    "no object, none annotated",
		},
		"AllGone": {
			reason:  "an unused type has no object",
			happens: []step{annotates("a"), and(deletesPlan("a"), deletesPlan("b"), theClassGoes)},
			want:    "no object, none annotated",
		},
		"LegacyOne": {
			reason: "one alone leaves no doubt",
			before: []string{"b"},
			want:   "b recorded and confirmed, b annotated",
		},
		"LegacyTwo": {
			reason: "only the operator knows which of the two people count on",
			before: []string{"a", "b"},
			want:   "none recorded, a b annotated",
		},
		"LegacyTwoEdited": {
			reason:  "an edit of the annotation's manager renews its time, and is no choice",
			before:  []string{"a", "b"},
			happens: []step{func(_ context.Context, r *registry) { r.renew("b") }, annotates("a"), retypes("a", "mysql")},
			want:    "none recorded, a b annotated",
		},
		"LegacyTwoSettledByAnnotation": {
			reason:  "the operator takes one off",
			before:  []string{"a", "b"},
			happens: []step{takesOff("a")},
			want:    "b recorded and confirmed, b annotated",
		},
		"LegacyTwoSettledByRecord": {
			reason:  "the operator records one",
			before:  []string{"a", "b"},
			happens: []step{records("b")},
			want:    "b recorded and confirmed, b annotated",
		},
		"RaceAfterALegacyIsSettled": {
			reason:  "the keeper chooses from then on",
			before:  []string{"a", "b"},
			happens: []step{takesOff("a"), takesOff("b"), annotates("b", "a")},
			want:    "a recorded and confirmed, a annotated",
		},
	}
}

func TestWhatBecomesOfADefault(t *testing.T) {
	t.Parallel()
	for scope, namespace := range map[string]string{"Cluster": "", "Namespace": "dev"} {
		for name, tc := range recorderCases() {
			t.Run(scope+"/"+name, func(t *testing.T) {
				t.Parallel()
				atRegistry(t, offering(namespace, "a", "b"), func(ctx context.Context, r *registry) {
					r.namespace = namespace
					tc.play(ctx, r)
				})
			})
		}
	}
}

func (tc recorderCase) play(ctx context.Context, r *registry) {
	annotates(tc.before...)(ctx, r)
	r.pass(time.Minute)
	r.keep(ctx)
	r.pass(time.Minute)
	for _, s := range tc.happens {
		r.forget()
		s(ctx, r)
		r.pass(time.Minute)
	}
	assert.Equal(r.t, tc.want, r.defaults(ctx, "mysql"), tc.reason)
	if tc.redis != "" {
		assert.Equal(r.t, tc.redis, r.defaults(ctx, "redis"), tc.reason)
	}
	if tc.events != nil {
		var want []string
		for _, event := range tc.events {
			want = append(want, r.namespace+"/"+r.spelled(event))
		}
		assert.ElementsMatch(r.t, want, r.told())
	}
	r.wrote()
	r.forget()
	r.pass(time.Hour)
	assert.Empty(r.t, r.wrote(), "it has settled")
	assert.Empty(r.t, r.told())
	assert.Empty(r.t, r.written("ClusterServiceType", "mysql"))
	assert.Empty(r.t, r.written("ServiceType", "mysql"))
}

// spelled writes out the command that switches to plan b or a, whichever lost.
func (r *registry) spelled(event string) string {
	object, place := "clusterservicetype mysql", "--cluster"
	if r.namespace != "" {
		object, place = "-n "+r.namespace+" servicetype mysql", "-n "+r.namespace
	}
	return strings.ReplaceAll(event, "COMMAND", fmt.Sprintf(
		`svcat set plan azure/%[2]s --default %[3]s, or with kubectl: kubectl patch %[1]s --type=merge -p '{"spec":{"defaultPlanRef":{"name":%[2]q}}}'`,
		object, event[:1], place))
}

// A namespace that is being deleted takes no new object, and what is deleted in it
// is no repair.
func TestANamespaceThatIsBeingDeletedIsLeftAlone(t *testing.T) {
	t.Parallel()
	atRegistry(t, offering("dev", "a", "b"), func(ctx context.Context, r *registry) {
		r.namespace = "dev"
		r.keep(ctx)
		r.annotate(ctx, "a")
		r.pass(time.Minute)
		tries := 0
		r.refuse(func(_ string, object client.Object) error {
			tries++
			return terminating(object)
		})
		deletesTheObject(ctx, r)
		r.pass(time.Minute)
		assert.Equal(t, 1, tries, "that is no failure to be tried again")
		deletesPlan("a")(ctx, r)
		deletesPlan("b")(ctx, r)
		theClassGoes(ctx, r)
		r.pass(time.Hour)
		assert.Equal(t, "no object, none annotated", r.defaults(ctx, "mysql"))
		assert.Equal(t, 1, r.counted("record", "stored"), "once, before")
	})
}

// What a type's plans are worth does not depend on which scope they are in, but
// they do not mix.
func TestScopesDoNotMix(t *testing.T) {
	t.Parallel()
	atRegistry(t, append(offering("", "a", "b"), offering("dev", "a", "b")...), func(ctx context.Context, r *registry) {
		r.keep(ctx)
		r.annotate(ctx, "a")
		r.namespace = "dev"
		r.annotate(ctx, "b")
		r.pass(time.Minute)
		assert.Equal(t, "b recorded and confirmed, b annotated", r.defaults(ctx, "mysql"))
		r.namespace = ""
		assert.Equal(t, "a recorded and confirmed, a annotated", r.defaults(ctx, "mysql"))
	})
}

// A type that a user created is not removed.
func TestWhatOthersMadeStays(t *testing.T) {
	t.Parallel()
	theirs := clusterType("")
	theirs.Spec = v1beta1.ServiceTypeSpec{}
	atRegistry(t, append(offering("", "a"), theirs), func(ctx context.Context, r *registry) {
		r.keep(ctx)
		r.pass(time.Minute)
		deletesPlan("a")(ctx, r)
		theClassGoes(ctx, r)
		r.pass(time.Minute)
		assert.Equal(t, "none recorded, none annotated", r.defaults(ctx, "mysql"))
	})
}
