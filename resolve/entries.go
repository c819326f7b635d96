package resolve

// entries are those of a catalog, found by name, and what they say of each other.
type entries struct {
	classes index[ClassEntry]
	plans   index[PlanEntry]
	records index[Record]
}

func entriesOf(cat Catalog) entries {
	return entries{
		classes: index[ClassEntry]{items: cat.Classes, key: classKey},
		plans:   index[PlanEntry]{items: cat.Plans, key: planKey},
		records: index[Record]{items: cat.Records, key: recordKey},
	}
}

// classOf returns the plan's class, which has the plan's own scope, or nil.
func (e *entries) classOf(p *PlanEntry) *ClassEntry {
	return e.classes.get(Ref{Namespace: p.Namespace, Name: p.Class})
}

// typeOf returns the plan's own type, else its class's.
func (e *entries) typeOf(p *PlanEntry) string {
	if p.Type != "" {
		return p.Type
	}
	if c := e.classOf(p); c != nil {
		return c.Type
	}
	return ""
}

// live says that the plan can be chosen.
func (e *entries) live(p *PlanEntry) bool { return e.whyGone(p) == "" }

// whyGone is WhyGone of a plan of the catalog.
func (e *entries) whyGone(p *PlanEntry) string { return WhyGone(e.classOf(p), p) }

// WhyGone says why a plan is never chosen, completing "it is …"; empty where it can be. The class is nil where there is
// none: the class's defaults would be missed for good.
func WhyGone(class *ClassEntry, plan *PlanEntry) string {
	switch {
	case plan.Gone != "":
		return plan.Gone
	case class == nil:
		return "of a class that does not exist"
	case class.Gone != "":
		return "of a class that is " + class.Gone
	}
	return Disagreement(class, plan)
}

// recordOf returns the type's record in the scope, nil where it records nothing.
func (e *entries) recordOf(typ, scope string) *Record {
	if typ == "" {
		return nil
	}
	if rec := e.records.get(Ref{Namespace: scope, Name: typ}); rec != nil && rec.Plan.Name != "" {
		return rec
	}
	return nil
}

// believed returns the plan that the type's record names in the scope, if it is live and still of that type. A record
// that names any other plan is left over from one, and annotations count.
func (e *entries) believed(typ, scope string) *PlanEntry {
	rec := e.recordOf(typ, scope)
	if rec == nil {
		return nil
	}
	p := e.plans.get(rec.Plan)
	if p == nil || !e.live(p) || e.typeOf(p) != typ {
		return nil
	}
	return p
}

// whyDisbelieved says of the plan that a record names why the record is not believed, as in "is being deleted"; empty
// where it is, and where it names none.
func (e *entries) whyDisbelieved(rec *Record) string {
	if rec.Plan.Name == "" || e.believed(rec.Type, rec.Plan.Namespace) != nil {
		return ""
	}
	p := e.plans.get(rec.Plan)
	if p == nil {
		return "does not exist"
	}
	if gone := e.whyGone(p); gone != "" {
		return "is " + gone
	}
	return "is of another type"
}

// isDefault says that the plan is its type's default in its scope: the recorded one, or with none recorded any that
// is annotated. A plan without a type has no record, and its annotation speaks within its class only.
func (e *entries) isDefault(p *PlanEntry) bool {
	if recorded := e.believed(e.typeOf(p), p.Namespace); recorded != nil {
		return recorded == p
	}
	return p.Default
}
