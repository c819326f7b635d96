package osbtest

// offerDuties are what an offer does not have, and no call asks for.
var offerDuties = []Duty{
	{"M8", "P80", "only what is bindable is bound", func(b *Broker, v *visit) string {
		key, known := b.planFor(v)
		return unless(v.Verb != Bind || !known || b.offer.bindable(key), "the plan is not bindable")
	}},
	{"M8", "P60", "a plan is changed only where it can be", func(b *Broker, v *visit) string {
		key, known := b.planFor(v)
		sent := v.text("plan_id")
		return unless(v.Verb != Update || !known || sent == "" || sent == key.plan || b.offer.updatable(key), "the plan cannot be changed")
	}},
	{"M8", "P50 P95", "only what is retrievable is fetched", func(b *Broker, v *visit) string {
		key, known := b.planFor(v)
		offering := b.offer.services[key.service]
		retrievable := v.Verb == FetchInstance && offering.InstancesRetrievable || v.Verb == FetchBinding && offering.BindingsRetrievable
		return unless(!v.Verb.fetches() || !known || retrievable, "it is not retrievable")
	}},
	{"M8", "P90", "only what is rotatable is rotated", func(b *Broker, v *visit) string {
		predecessor := v.text("predecessor_binding_id")
		if v.Verb != Bind || predecessor == "" {
			return ""
		}
		key, _ := b.planFor(v)
		before := b.books.bindings[target{v.InstanceID, predecessor}]
		valid := before != nil && !before.expired(b.options.Now())
		if again := b.books.bindings[v.target()]; again != nil { // a repeated request says what the first did
			valid = again.Predecessor == predecessor
		}
		return unless(valid && b.offer.plans[key].BindingRotatable, "the plan does not rotate, or the predecessor is none")
	}},
	{"M8", "P63", "a context alone is sent only where it may change", func(b *Broker, v *visit) string {
		key, known := b.planFor(v)
		alone := !v.given("plan_id") && !v.given("parameters") && !v.given("maintenance_info")
		return unless(v.Verb != Update || !known || !alone || b.offer.services[key.service].AllowContextUpdates, "nothing but a context, which cannot be updated")
	}},
}

// planFor is the plan of what a call is about: the instance's on the books, or else the
// one that the call names.
func (b *Broker) planFor(v *visit) (planKey, bool) {
	key := planKey{v.hint("service_id"), v.hint("plan_id")}
	if instance := b.books.instances[v.InstanceID]; instance != nil {
		key = planKey{instance.ServiceID, instance.PlanID}
	}
	_, known := b.offer.services[key.service]
	return key, known
}

// orderDuties are what comes before what.
var orderDuties = []Duty{
	{"M9", "P70", "bindings go before their instance", func(b *Broker, v *visit) string {
		return unless(v.Verb != Deprovision || b.books.bound[v.InstanceID] == 0, "the instance has bindings")
	}},
	{"M10", "table 1.15", "nothing is mitigated that needs it not", func(b *Broker, v *visit) string {
		return unless(!v.stray || b.conduct.shutOut[v.target()], "a deletion for no user, and no mitigation is due")
	}},
	{"M10", "table 1.15", "what is to be mitigated is not sent again", func(b *Broker, v *visit) string {
		m := b.orphans.mitigations[v.target()]
		return unless(!v.Verb.creates() || m == nil || m.Done || b.options.Crashes, "it is sent again, and mitigation is due")
	}},
	{"M11", "P103", "a Retry-After is waited for", func(b *Broker, v *visit) string {
		early := b.impatience(v)
		return unless(early == 0, early.String()+" before the Retry-After")
	}},
	{"M11", "P104", "polling ends", func(b *Broker, v *visit) string {
		op := b.books.operations[v.target()]
		return unless(!v.Verb.polls() || !op.running() || !b.offer.overdue(op, b.options.Now()), "polled after the maximum polling duration")
	}},
	{"M12", "1.14", "one call at a time", func(b *Broker, v *visit) string {
		return unless(!v.Verb.mutates() || len(b.recorder.inFlight(v)) == 0, "another call about the same is under way")
	}},
	{"M12", "1.14 P71", "one operation at a time", func(b *Broker, v *visit) string {
		return unless(!v.Verb.mutates() || !b.overtakes(v), "an operation is in progress")
	}},
	{"M13", "P11", "a broker that rejected authentication made no orphan", func(b *Broker, v *visit) string {
		return unless(!v.stray || !b.conduct.shutOut[v.target()], "a clean-up after a call that was not let in")
	}},
	{"M14", "P20", "an ID is used once", func(b *Broker, v *visit) string {
		// A call that came before the removal, and is late, is no reuse.
		by, reused := b.conduct.removed[v.target().id()]
		return unless(!v.Verb.creates() || !reused || by > v.N, "the ID was used before, and what it named was removed")
	}},
}

// overtakes says whether an operation that the platform knows of is in progress on the
// instance or the binding. The same request may come again, a creation may be halted,
// and what takes too long is given up.
func (b *Broker) overtakes(v *visit) bool {
	for _, at := range []target{{instance: v.InstanceID}, v.target()} {
		op := b.books.operations[at]
		if !op.running() || !op.heard || b.offer.overdue(op, b.options.Now()) {
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
