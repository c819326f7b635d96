package osbtest

import "slices"

// A judge knows which duties a call breaks.
type judge struct {
	options  *Options
	offer    *offer
	books    *books
	recorder *recorder
	conduct  *conduct
	orphans  *orphans
	// violations are the calls that broke a duty.
	violations []Violation
}

// record notes the duties that a call breaks.
func (j *judge) record(v *visit) {
	v.stray = j.orphans.strays(v)
	if v.Verb.removes() {
		j.orphans.issue(v)
	}
	for _, duty := range everyDuty {
		text := duty.broken(j, v)
		if text == "" {
			continue
		}
		if v.violated == "" {
			v.violated = duty.Rule + ": " + text
		}
		j.violations = append(j.violations, Violation{Duty: duty.ID, Rule: duty.Rule, Text: text, Call: v.Call})
	}
}

// breaks says whether a call would break a duty if it were judged now.
func (j *judge) breaks(v *visit) bool {
	v.stray = j.orphans.strays(v)
	return slices.ContainsFunc(everyDuty, func(duty Duty) bool { return duty.broken(j, v) != "" })
}

// planFor is the plan of what a call is about: the instance's on the books, or else the
// one that the call names.
func (j *judge) planFor(v *visit) (planKey, bool) {
	key := planKey{v.hint("service_id"), v.hint("plan_id")}
	if instance := j.books.instances[v.InstanceID]; instance != nil {
		key = planKey{instance.ServiceID, instance.PlanID}
	}
	_, known := j.offer.services[key.service]
	return key, known
}

// overtakes says whether an operation that the platform knows of is in progress on the
// instance or the binding. The same request may come again, a creation may be halted,
// and what takes too long is given up.
func (j *judge) overtakes(v *visit) bool {
	for _, at := range []target{{instance: v.InstanceID}, v.target()} {
		op := j.books.operations[at]
		if !op.running() || !op.heard || j.offer.overdue(op, j.options.Now()) {
			continue
		}
		own := at == v.target()
		if own && (op.verb == v.Verb || op.verb.creates() && v.Verb.removes()) {
			continue
		}
		return true
	}
	return false
}
