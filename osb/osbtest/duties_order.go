package osbtest

// offerDuties are what an offer does not have, and no call asks for.
var offerDuties = []Duty{
	{"M8.1", "M8", "P80", "only what is bindable is bound", func(j *judge, v *visit) string {
		key, known := j.planFor(v)
		return unless(v.Verb != Bind || !known || j.offer.bindable(key), "the plan is not bindable")
	}},
	{"M8.2", "M8", "P60", "a plan is changed only where it can be", func(j *judge, v *visit) string {
		key, known := j.planFor(v)
		sent := v.text("plan_id")
		return unless(v.Verb != Update || !known || sent == "" || sent == key.plan || j.offer.updatable(key), "the plan cannot be changed")
	}},
	{"M8.3", "M8", "P50 P95", "only what is retrievable is fetched", func(j *judge, v *visit) string {
		key, known := j.planFor(v)
		offering := j.offer.services[key.service]
		retrievable := v.Verb == FetchInstance && offering.InstancesRetrievable || v.Verb == FetchBinding && offering.BindingsRetrievable
		return unless(!v.Verb.fetches() || !known || retrievable, "it is not retrievable")
	}},
	{"M8.4", "M8", "P90", "only what is rotatable is rotated", func(j *judge, v *visit) string {
		predecessor := v.text("predecessor_binding_id")
		if v.Verb != Bind || predecessor == "" {
			return ""
		}
		key, _ := j.planFor(v)
		before := j.books.bindings[target{v.InstanceID, predecessor}]
		valid := before != nil && !before.expired(j.options.Now())
		if again := j.books.bindings[v.target()]; again != nil { // a repeated request says what the first did
			valid = again.Predecessor == predecessor
		}
		return unless(valid && j.offer.plans[key].BindingRotatable, "the plan does not rotate, or the predecessor is none")
	}},
	{"M8.5", "M8", "P63", "a context alone is sent only where it may change", func(j *judge, v *visit) string {
		key, known := j.planFor(v)
		alone := !v.given("plan_id") && !v.given("parameters") && !v.given("maintenance_info")
		return unless(v.Verb != Update || !known || !alone || j.offer.services[key.service].AllowContextUpdates, "nothing but a context, which cannot be updated")
	}},
}

// orderDuties are what comes before what.
var orderDuties = []Duty{
	{"M9.1", "M9", "P70", "bindings go before their instance", func(j *judge, v *visit) string {
		return unless(v.Verb != Deprovision || j.books.bound[v.InstanceID] == 0, "the instance has bindings")
	}},
	{"M10.1", "M10", "table 1.15", "nothing is mitigated that needs it not", func(j *judge, v *visit) string {
		return unless(!v.stray || j.conduct.shutOut[v.target()], "a deletion for no user, and no mitigation is due")
	}},
	{"M10.2", "M10", "table 1.15", "what is to be mitigated is not sent again", func(j *judge, v *visit) string {
		m := j.orphans.mitigations[v.target()]
		return unless(!v.Verb.creates() || m == nil || m.Done || j.options.Crashes, "it is sent again, and mitigation is due")
	}},
	{"M11.1", "M11", "P103", "a Retry-After is waited for", func(j *judge, v *visit) string {
		early := j.conduct.impatience(v)
		return unless(early == 0, early.String()+" before the Retry-After")
	}},
	{"M11.2", "M11", "P104", "polling ends", func(j *judge, v *visit) string {
		op := j.books.operations[v.target()]
		return unless(!v.Verb.polls() || !op.running() || !j.offer.overdue(op, j.options.Now()), "polled after the maximum polling duration")
	}},
	{"M12.1", "M12", "1.14", "one call at a time", func(j *judge, v *visit) string {
		return unless(!v.Verb.mutates() || len(j.recorder.inFlight(v)) == 0, "another call about the same is under way")
	}},
	{"M12.2", "M12", "1.14 P71", "one operation at a time", func(j *judge, v *visit) string {
		return unless(!v.Verb.mutates() || !j.overtakes(v), "an operation is in progress")
	}},
	{"M13.1", "M13", "P11", "a broker that rejected authentication made no orphan", func(j *judge, v *visit) string {
		return unless(!v.stray || !j.conduct.shutOut[v.target()], "a clean-up after a call that was not let in")
	}},
	{"M14.1", "M14", "P20", "an ID is used once", func(j *judge, v *visit) string {
		// A call that came before the removal, and is late, is no reuse.
		by, reused := j.conduct.removed[v.target().id()]
		return unless(!v.Verb.creates() || !reused || by > v.N, "the ID was used before, and what it named was removed")
	}},
}
