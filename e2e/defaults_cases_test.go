package e2e_test

import (
	"fmt"
	"maps"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

// A defaultsCase is a row of the table in docs/defaults.md, played: what is done to
// an offer whose first plan is the recorded default, and what that comes to.
type defaultsCase struct {
	reason string
	do     func(o *offer)
	want   string
	// gives is what the type gives then, and strange what the other one does.
	gives, strange string
}

// TestOneDefaultPerType plays every case of docs/defaults.md that can come about
// while the hooks and a keeper are there.
func TestOneDefaultPerType(t *testing.T) {
	t.Parallel()
	for _, s := range []scope{clusterScope, namespaceScope} {
		for name, tc := range defaultsCases() {
			t.Run(s.title+"/"+name, func(t *testing.T) {
				t.Parallel()
				o := newOffer(newWorld(t), s)
				o.comesTo("type=plan strange= plan*", "the first default is recorded, and every type kept")
				tc.do(o)
				o.comesTo(tc.want, tc.reason)
				o.gives(o.kind, tc.gives)
				o.gives(o.name("strange"), tc.strange)
			})
		}
	}
}

func defaultsCases() map[string]defaultsCase {
	cases := recordCases()
	maps.Copy(cases, annotationCases())
	maps.Copy(cases, catalogCases())
	return cases
}

const untouched = "type=plan strange= plan*"

// annotationCases: someone annotates.
func annotationCases() map[string]defaultsCase {
	return map[string]defaultsCase{
		"Second": {reason: "there is one", want: untouched, gives: "plan", do: func(o *offer) {
			o.isRefused(o.tryPatch(o.objectOf(o.other), patchOn), "plan", "is recorded in")
		}},
		"SecondOfNew": {reason: "also as a new plan", want: untouched, gives: "plan", do: func(o *offer) {
			fresh := plan{namespace: o.at(), name: o.name("fresh"), class: o.class, isDefault: true}
			o.isRefused(o.client.Create(o.Context(), fresh.object()), "plan", "is recorded in")
		}},
		"OfAnotherType": {reason: "each type has its own", want: "type=plan strange=distant distant* plan*", gives: "plan", strange: "distant", do: func(o *offer) {
			o.patch(o.objectOf(o.foreignPlan), patchOn)
		}},
		"Cleared": {reason: "it was taken off", want: "type= strange=", do: func(o *offer) {
			o.patch(o.objectOf(o.plan), patchOff)
		}},
		"ClearedAndSetAnew": {reason: "there is room for another", want: "type=other strange= other*", gives: "other", do: func(o *offer) {
			o.patch(o.objectOf(o.plan), patchOff)
			o.comesTo("type= strange=", "it was taken off")
			o.patch(o.objectOf(o.other), patchOn)
		}},
		"SetAnewTooSoon": {reason: "the record stands until it is cleared, and says so", want: "type= strange=", do: func(o *offer) {
			o.patch(o.objectOf(o.plan), patchOff)
			if err := o.tryPatch(o.objectOf(o.other), patchOn); err != nil {
				o.isRefused(err, "plan", "is recorded in")
				return
			}
			// The keeper was faster.
			o.patch(o.objectOf(o.other), patchOff)
		}},
	}
}

// recordCases: someone writes the record.
func recordCases() map[string]defaultsCase {
	const switched = "type=other strange= other*"
	return map[string]defaultsCase{
		"Switched": {reason: "the keeper moves the annotations", want: switched, gives: "other", do: func(o *offer) {
			o.records(o.kind, o.other)
			o.gives(o.kind, "other")
		}},
		"SwitchedByHand": {reason: "whoever switches may move them", want: switched, gives: "other", do: func(o *offer) {
			o.records(o.kind, o.other)
			o.patch(o.objectOf(o.other), patchOn)
			o.patch(o.objectOf(o.plan), patchOff)
		}},
		"SwitchedAndBack": {reason: "the last one counts", want: untouched, gives: "plan", do: func(o *offer) {
			o.records(o.kind, o.other)
			o.records(o.kind, o.plan)
		}},
		"SwitchedOn": {reason: "the last one counts", want: untouched, gives: "plan", do: func(o *offer) {
			o.records(o.kind, o.other)
			o.comesTo(switched, "the keeper moves the annotations")
			o.records(o.kind, o.plan)
		}},
		"ClearedByHand": {reason: "it would be recorded again", want: untouched, gives: "plan", do: func(o *offer) {
			requireInvalid(o.T, o.tryPatch(o.typeOf(o.kind), `{"spec":{"defaultPlanRef":null}}`), "is annotated as the default of type")
		}},
		"Absent": {reason: "it cannot be chosen", want: untouched, gives: "plan", do: func(o *offer) {
			err := o.tryPatch(o.typeOf(o.kind), recordOf("absent"))
			requireInvalid(o.T, err, `plan "absent" cannot be the default of type`)
			requireInvalid(o.T, err, o.other)
		}},
		"Foreign": {reason: "it is of another type", want: untouched, gives: "plan", do: func(o *offer) {
			requireInvalid(o.T, o.tryPatch(o.typeOf(o.kind), recordOf(o.foreignPlan)), fmt.Sprintf("it is of type %q", o.name("strange")))
		}},
		"First": {reason: "a record will do", want: "type=plan strange=distant distant* plan*", gives: "plan", strange: "distant", do: func(o *offer) {
			o.records(o.name("strange"), o.foreignPlan)
		}},
	}
}

// catalogCases: what is the default is changed, or goes.
func catalogCases() map[string]defaultsCase {
	const moved = "type= strange=plan plan*"
	const held = "type=plan strange=distant distant* plan*"
	holds := func(o *offer) {
		o.patch(o.objectOf(o.foreignPlan), patchOn)
		o.comesTo(held, "the other type has a default")
	}
	return map[string]defaultsCase{
		"PlanDeleted": {reason: "so is the default", want: "type= strange=", do: func(o *offer) {
			o.removes(o.objectOf(o.plan))
		}},
		"PlanMadeAgain": {reason: "it is another, and not annotated", want: "type= strange=", do: func(o *offer) {
			o.removes(o.objectOf(o.plan))
			o.create(plan{namespace: o.at(), name: o.plan, class: o.class}.object())
		}},
		"PlanRetyped": {reason: "it is the default where it goes", want: moved, strange: "plan", do: func(o *offer) {
			o.patch(o.objectOf(o.plan), retype(o.name("strange")))
		}},
		"PlanRetypedToHeld": {reason: "there is one", want: held, gives: "plan", strange: "distant", do: func(o *offer) {
			holds(o)
			o.isRefused(o.tryPatch(o.objectOf(o.plan), retype(o.name("strange"))), "distant", "is recorded in")
		}},
		"ClassRetyped": {reason: "its plans go with it", want: "type=gone strange=plan plan*", strange: "plan", do: func(o *offer) {
			o.patch(o.classOf(o.class), retype(o.name("strange")))
		}},
		"ClassRetypedToHeld": {reason: "there is one", want: held, gives: "plan", strange: "distant", do: func(o *offer) {
			holds(o)
			o.isRefused(o.tryPatch(o.classOf(o.class), retype(o.name("strange"))), "distant", "is recorded in")
		}},
		"ClassRetypedWithoutDefault": {reason: "nobody loses anything", want: "type=plan strange=gone plan*", gives: "plan", do: func(o *offer) {
			o.patch(o.classOf(o.foreignClass), retype(o.kind))
		}},
		"TypeDeleted": {reason: "it is made again, and what is annotated recorded", want: untouched, gives: "plan", do: func(o *offer) {
			before, again := o.typeOf(o.kind), o.typeOf(o.kind)
			o.get(before)
			o.removes(o.typeOf(o.kind))
			o.eventually(func() (bool, error) {
				err := o.client.Get(o.Context(), client.ObjectKeyFromObject(again), again)
				return err == nil && again.GetUID() != before.GetUID(), err
			})
		}},
		"TypeOutOfUse": {reason: "nobody needs it", want: "type=gone strange=", do: func(o *offer) {
			o.removes(o.objectOf(o.plan))
			o.removes(o.objectOf(o.other))
			o.removes(o.classOf(o.class))
		}},
		"PlanDropped": {reason: "its broker may have it again", want: untouched, do: func(o *offer) {
			o.drops(o.plan, true)
		}},
		"PlanDroppedAndBack": {reason: "it returns as it was", want: untouched, gives: "plan", do: func(o *offer) {
			o.drops(o.plan, true)
			o.gives(o.kind, "")
			o.drops(o.plan, false)
		}},
		"PlanDroppedAndReplaced": {reason: "another took its place, and keeps it", want: "type=other strange= other*", gives: "other", do: func(o *offer) {
			o.drops(o.plan, true)
			o.patch(o.objectOf(o.other), patchOn)
			o.comesTo("type=other strange= other*", "another took its place")
			o.drops(o.plan, false)
		}},
		"ClassDeleted": {reason: "it may return", want: untouched, do: func(o *offer) {
			o.removes(o.classOf(o.class))
		}},
		"ClassDeletedAndBack": {reason: "it returns as it was", want: untouched, gives: "plan", do: func(o *offer) {
			gone := o.classOf(o.class)
			o.get(gone)
			o.removes(o.classOf(o.class))
			o.gives(o.kind, "")
			gone.SetResourceVersion("")
			o.create(gone)
		}},
	}
}
