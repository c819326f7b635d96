package defaults_test

import (
	"fmt"
	"maps"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/e2e/env"
	"github.com/defaultplan/defaultplan/e2e/offering"
)

// A defaultsCase is a row of the table in docs/defaults.md, played: what is done to
// an offer whose first plan is the recorded default, and what that comes to.
type defaultsCase struct {
	reason string
	do     func(o *offering.Offer)
	want   string
	// gives is what the type gives then, and strange what the other one does.
	gives, strange string
}

// TestOneDefaultPerType plays every case of docs/defaults.md that can come about
// while the hooks and a keeper are there.
func TestOneDefaultPerType(t *testing.T) {
	t.Parallel()
	for _, s := range []offering.Scope{offering.Cluster, offering.Namespace} {
		for name, tc := range defaultsCases() {
			t.Run(s.Title+"/"+name, func(t *testing.T) {
				t.Parallel()
				o := offering.New(env.New(t), s)
				o.ComesTo("type=plan strange= plan*", "the first default is recorded, and every type kept")
				tc.do(o)
				o.ComesTo(tc.want, tc.reason)
				o.Gives(o.Type, tc.gives)
				o.Gives(o.Name("strange"), tc.strange)
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
		"Second": {reason: "there is one", want: untouched, gives: "plan", do: func(o *offering.Offer) {
			o.IsRefused(o.TryPatch(o.PlanObject(o.Other), offering.PatchOn), "plan", "is recorded in")
		}},
		"SecondOfNew": {reason: "also as a new plan", want: untouched, gives: "plan", do: func(o *offering.Offer) {
			fresh := env.Plan{Namespace: o.At(), Name: o.Name("fresh"), Class: o.Class, Default: true}
			o.IsRefused(o.Client().Create(o.Context(), fresh.Object()), "plan", "is recorded in")
		}},
		"OfAnotherType": {reason: "each type has its own", want: "type=plan strange=distant distant* plan*", gives: "plan", strange: "distant", do: func(o *offering.Offer) {
			o.Patch(o.PlanObject(o.ForeignPlan), offering.PatchOn)
		}},
		"Cleared": {reason: "it was taken off", want: "type= strange=", do: func(o *offering.Offer) {
			o.Patch(o.PlanObject(o.Plan), offering.PatchOff)
		}},
		"ClearedAndSetAnew": {reason: "there is room for another", want: "type=other strange= other*", gives: "other", do: func(o *offering.Offer) {
			o.Patch(o.PlanObject(o.Plan), offering.PatchOff)
			o.ComesTo("type= strange=", "it was taken off")
			o.Patch(o.PlanObject(o.Other), offering.PatchOn)
		}},
		"SetAnewTooSoon": {reason: "the record stands until it is cleared, and says so", want: "type= strange=", do: func(o *offering.Offer) {
			o.Patch(o.PlanObject(o.Plan), offering.PatchOff)
			if err := o.TryPatch(o.PlanObject(o.Other), offering.PatchOn); err != nil {
				o.IsRefused(err, "plan", "is recorded in")
				return
			}
			// The keeper was faster.
			o.Patch(o.PlanObject(o.Other), offering.PatchOff)
		}},
	}
}

// recordCases: someone writes the record.
func recordCases() map[string]defaultsCase {
	const switched = "type=other strange= other*"
	return map[string]defaultsCase{
		"Switched": {reason: "the keeper moves the annotations", want: switched, gives: "other", do: func(o *offering.Offer) {
			o.Records(o.Type, o.Other)
			o.Gives(o.Type, "other")
		}},
		"SwitchedByHand": {reason: "a user who switches may move them", want: switched, gives: "other", do: func(o *offering.Offer) {
			o.Records(o.Type, o.Other)
			o.Patch(o.PlanObject(o.Other), offering.PatchOn)
			o.Patch(o.PlanObject(o.Plan), offering.PatchOff)
		}},
		"SwitchedAndBack": {reason: "the last one counts", want: untouched, gives: "plan", do: func(o *offering.Offer) {
			o.Records(o.Type, o.Other)
			o.Records(o.Type, o.Plan)
		}},
		"SwitchedOn": {reason: "the last one counts", want: untouched, gives: "plan", do: func(o *offering.Offer) {
			o.Records(o.Type, o.Other)
			o.ComesTo(switched, "the keeper moves the annotations")
			o.Records(o.Type, o.Plan)
		}},
		"ClearedByHand": {reason: "it would be recorded again", want: untouched, gives: "plan", do: func(o *offering.Offer) {
			env.RequireInvalid(o.T, o.TryPatch(o.TypeObject(o.Type), `{"spec":{"defaultPlanRef":null}}`), "is annotated as the default of type")
		}},
		"Absent": {reason: "it cannot be chosen", want: untouched, gives: "plan", do: func(o *offering.Offer) {
			err := o.TryPatch(o.TypeObject(o.Type), offering.RecordOf("absent"))
			env.RequireInvalid(o.T, err, `plan "absent" cannot be the default of type`)
			env.RequireInvalid(o.T, err, o.Other)
		}},
		"Foreign": {reason: "it is of another type", want: untouched, gives: "plan", do: func(o *offering.Offer) {
			env.RequireInvalid(o.T, o.TryPatch(o.TypeObject(o.Type), offering.RecordOf(o.ForeignPlan)), fmt.Sprintf("it is of type %q", o.Name("strange")))
		}},
		"First": {reason: "a record will do", want: "type=plan strange=distant distant* plan*", gives: "plan", strange: "distant", do: func(o *offering.Offer) {
			o.Records(o.Name("strange"), o.ForeignPlan)
		}},
	}
}

// catalogCases: what is the default is changed, or goes.
func catalogCases() map[string]defaultsCase {
	const moved = "type= strange=plan plan*"
	const held = "type=plan strange=distant distant* plan*"
	holds := func(o *offering.Offer) {
		o.Patch(o.PlanObject(o.ForeignPlan), offering.PatchOn)
		o.ComesTo(held, "the other type has a default")
	}
	return map[string]defaultsCase{
		"PlanDeleted": {reason: "so is the default", want: "type= strange=", do: func(o *offering.Offer) {
			o.Removes(o.PlanObject(o.Plan))
		}},
		"PlanMadeAgain": {reason: "it is another, and not annotated", want: "type= strange=", do: func(o *offering.Offer) {
			o.Removes(o.PlanObject(o.Plan))
			o.Create(env.Plan{Namespace: o.At(), Name: o.Plan, Class: o.Class}.Object())
		}},
		"PlanRetyped": {reason: "it is the default where it goes", want: moved, strange: "plan", do: func(o *offering.Offer) {
			o.Patch(o.PlanObject(o.Plan), offering.Retype(o.Name("strange")))
		}},
		"PlanRetypedToHeld": {reason: "there is one", want: held, gives: "plan", strange: "distant", do: func(o *offering.Offer) {
			holds(o)
			o.IsRefused(o.TryPatch(o.PlanObject(o.Plan), offering.Retype(o.Name("strange"))), "distant", "is recorded in")
		}},
		"ClassRetyped": {reason: "its plans go with it", want: "type=gone strange=plan plan*", strange: "plan", do: func(o *offering.Offer) {
			o.Patch(o.ClassObject(o.Class), offering.Retype(o.Name("strange")))
		}},
		"ClassRetypedToHeld": {reason: "there is one", want: held, gives: "plan", strange: "distant", do: func(o *offering.Offer) {
			holds(o)
			o.IsRefused(o.TryPatch(o.ClassObject(o.Class), offering.Retype(o.Name("strange"))), "distant", "is recorded in")
		}},
		"ClassRetypedWithoutDefault": {reason: "no type loses its default", want: "type=plan strange=gone plan*", gives: "plan", do: func(o *offering.Offer) {
			o.Patch(o.ClassObject(o.ForeignClass), offering.Retype(o.Type))
		}},
		"TypeDeleted": {reason: "it is made again, and what is annotated recorded", want: untouched, gives: "plan", do: func(o *offering.Offer) {
			before, again := o.TypeObject(o.Type), o.TypeObject(o.Type)
			o.Get(before)
			o.Removes(o.TypeObject(o.Type))
			o.Eventually(func() (bool, error) {
				err := o.Client().Get(o.Context(), client.ObjectKeyFromObject(again), again)
				return err == nil && again.GetUID() != before.GetUID(), err
			})
		}},
		"TypeOutOfUse": {reason: "it is not needed", want: "type=gone strange=", do: func(o *offering.Offer) {
			o.Removes(o.PlanObject(o.Plan))
			o.Removes(o.PlanObject(o.Other))
			o.Removes(o.ClassObject(o.Class))
		}},
		"PlanDropped": {reason: "its broker may have it again", want: untouched, do: func(o *offering.Offer) {
			o.Drops(o.Plan, true)
		}},
		"PlanDroppedAndBack": {reason: "it returns as it was", want: untouched, gives: "plan", do: func(o *offering.Offer) {
			o.Drops(o.Plan, true)
			o.Gives(o.Type, "")
			o.Drops(o.Plan, false)
		}},
		"PlanDroppedAndReplaced": {reason: "another took its place, and keeps it", want: "type=other strange= other*", gives: "other", do: func(o *offering.Offer) {
			o.Drops(o.Plan, true)
			o.Patch(o.PlanObject(o.Other), offering.PatchOn)
			o.ComesTo("type=other strange= other*", "another took its place")
			o.Drops(o.Plan, false)
		}},
		"ClassDeleted": {reason: "it may return", want: untouched, do: func(o *offering.Offer) {
			o.Removes(o.ClassObject(o.Class))
		}},
		"ClassDeletedAndBack": {reason: "it returns as it was", want: untouched, gives: "plan", do: func(o *offering.Offer) {
			gone := o.ClassObject(o.Class)
			o.Get(gone)
			o.Removes(o.ClassObject(o.Class))
			o.Gives(o.Type, "")
			gone.SetResourceVersion("")
			o.Create(gone)
		}},
	}
}
