package defaults

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"
)

// A planState is the relation of a plan to a type.
type planState int

const (
	// planLive is a plan of the type that can be chosen.
	planLive planState = iota
	// planDormant cannot be chosen now, but may come back as it was: it was
	// removed from its broker's catalog, or its class is gone.
	planDormant
	// planLeaving is being deleted.
	planLeaving
	// planForeign is of another type, or of none. It only matters because the
	// record names it.
	planForeign
)

// A contender is what a plan says about being the default.
type contender struct {
	name  string
	uid   types.UID
	state planState
	// annotated says that it claims to be the default, and annotatedAt since
	// when, as far as that is known.
	annotated   bool
	annotatedAt time.Time
	// version is the plan's resource version, by which those that were annotated
	// in the same second follow one another.
	version string
}

// A state is the input of settle: all that decides the next action on a type's
// default in one scope, the cluster's or a namespace's.
type state struct {
	// exists says that the type's object is there, ending that it is being
	// deleted, and ours that the keeper made it.
	exists, ending, ours bool
	// inUse says that a live plan or class is of the type.
	inUse bool
	// recorded is the plan that the object names, empty for none.
	recorded string
	// confirmed says that record and annotation have agreed since the object's
	// spec was last written.
	confirmed bool
	// followed says that a keeper wrote the record, following a stored
	// annotation. A record by any other writer is a switch.
	followed bool
	// awaiting says that the object's status leaves the choice to the operator.
	awaiting bool
	// firstRun is when a keeper first ran in the cluster.
	firstRun   time.Time
	contenders []contender
}

// A verb is the kind of an action.
type verb string

const (
	// rest does nothing: all is as desired, or for others to decide.
	rest verb = "rest"
	// createType and removeType keep a type's object where the type is in use.
	createType verb = "create"
	removeType verb = "remove"
	// recordPlan records a plan as the default, where none was or another.
	recordPlan verb = "record"
	// clearRecord records that there is no default.
	clearRecord verb = "clear"
	// confirmRecord remembers that record and annotation have agreed.
	confirmRecord verb = "confirm"
	// annotatePlan and unannotatePlan have an annotation follow the record.
	annotatePlan   verb = "annotate"
	unannotatePlan verb = "unannotate"
)

// An action is the one thing to do next.
type action struct {
	verb verb
	// plan is the plan that is recorded, cleared, confirmed or annotated.
	plan string
	// former is the plan that the record named before, if recordPlan replaces it.
	former string
	// why completes "the plan is no longer the default: …" if a record is
	// cleared.
	why string
	// awaiting says that the operator is to choose.
	awaiting bool
}

// settle says what to do next about a type's default. Each action is idempotent and
// durable, so another replica can resume after a crash. The record is written first
// and the annotations follow it, so there are never two defaults, and a switch leaves
// no moment without one.
func settle(s state) action {
	if s.ending {
		// It can neither record a default nor be created again before it is
		// gone.
		return action{verb: rest}
	}
	if s.recorded == "" {
		return s.choose()
	}
	i := slices.IndexFunc(s.contenders, func(c contender) bool { return c.name == s.recorded })
	if i < 0 {
		return s.succeed("it does not exist")
	}
	holder := s.contenders[i]
	switch {
	case holder.state == planLeaving:
		return s.succeed("it is being deleted")
	case holder.state == planForeign:
		return s.succeed("it is not of this type")
	case (s.confirmed || s.followed) && !holder.annotated:
		return action{verb: clearRecord, plan: s.recorded, why: "its annotation was taken off"}
	case holder.state == planDormant:
		return s.outlast()
	}
	return s.agree(holder)
}

// choose settles a type that records nothing.
func (s state) choose() action {
	annotated := s.annotated()
	switch {
	case len(annotated) == 0:
		return s.keep()
	case len(annotated) > 1 && s.legacy(annotated):
		a := s.keep()
		a.awaiting = true
		return a
	}
	return action{verb: recordPlan, plan: annotated[0].name}
}

// legacy says whether several plans were annotated before the first keeper ran:
// only the operator can choose among them. Once status says so it stays,
// because any later edit can renew the time of an annotation.
func (s state) legacy(annotated []contender) bool {
	return s.awaiting || annotated[1].annotatedAt.Before(s.firstRun)
}

// succeed settles a type whose record names a plan that will not come back.
func (s state) succeed(why string) action {
	if successors := s.annotated(); len(successors) > 0 {
		return action{verb: recordPlan, plan: successors[0].name, former: s.recorded, why: why}
	}
	return action{verb: clearRecord, plan: s.recorded, why: why}
}

// outlast settles a type whose recorded plan may come back: it stays recorded
// until another is to be the default.
func (s state) outlast() action {
	if successors := s.annotated(); len(successors) > 0 {
		return action{verb: recordPlan, plan: successors[0].name, former: s.recorded, why: "it cannot be chosen any more, and another is annotated"}
	}
	return s.keep()
}

// agree has the annotations follow the record of a live plan. The plan's own
// comes first: if it is taken off from then on, that counts.
func (s state) agree(holder contender) action {
	switch {
	case !holder.annotated:
		// A user wrote the record, and it is not confirmed, or it would have
		// been cleared: a switch is in progress.
		return action{verb: annotatePlan, plan: holder.name}
	case !s.confirmed:
		return action{verb: confirmRecord, plan: holder.name}
	}
	for _, other := range s.contenders {
		if other.annotated && other.name != holder.name && other.state != planLeaving {
			return action{verb: unannotatePlan, plan: other.name}
		}
	}
	return s.keep()
}

// keep settles whether the type's object is to be there.
func (s state) keep() action {
	switch {
	case !s.exists && s.inUse:
		return action{verb: createType}
	case s.exists && s.ours && !s.inUse && s.recorded == "":
		return action{verb: removeType}
	}
	return action{verb: rest}
}

// annotated are the live plans that claim to be the default, the first to claim
// it first.
func (s state) annotated() []contender {
	var found []contender
	for _, c := range s.contenders {
		if c.annotated && c.state == planLive {
			found = append(found, c)
		}
	}
	slices.SortFunc(found, func(a, b contender) int {
		return cmp.Or(a.annotatedAt.Compare(b.annotatedAt), compareVersions(a.version, b.version),
			strings.Compare(string(a.uid), string(b.uid)), strings.Compare(a.name, b.name))
	})
	return found
}

// compareVersions says which of two plans was written first, if that can be
// known. Annotations have times in whole seconds; within one second the plan
// that was annotated first stays the default, because an instance may have got
// it already.
func compareVersions(a, b string) int {
	order, err := resourceversion.CompareResourceVersion(a, b)
	if err != nil {
		return 0
	}
	return order
}
