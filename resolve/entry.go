package resolve

// scope is where named classes and plans are looked up.
func (r *round) scope() string {
	if r.req.Namespaced {
		return r.req.Namespace
	}
	return ""
}

// visible says that the plan is the cluster's or of the request's namespace.
func (r *round) visible(p *PlanEntry) bool {
	return p.Namespace == "" || p.Namespace == r.req.Namespace
}

// classOf returns the plan's class, which has the plan's own scope, or nil.
func (r *round) classOf(p *PlanEntry) *ClassEntry {
	return r.classes.get(Ref{Namespace: p.Namespace, Name: p.Class})
}

// typeOf returns the plan's own type, else its class's.
func (r *round) typeOf(p *PlanEntry) string {
	if p.Type != "" {
		return p.Type
	}
	if c := r.classOf(p); c != nil {
		return c.Type
	}
	return ""
}

// agrees says that the plan is of the request's type. Beside a named class a type only describes, and a plan without
// one agrees with any.
func (r *round) agrees(p *PlanEntry) bool {
	if r.req.Type == "" {
		return true
	}
	t := r.typeOf(p)
	return t == r.req.Type || t == "" && r.req.Class.Value != ""
}

// considered says that the request could have meant the plan, were it live and the only one.
func (r *round) considered(p *PlanEntry) bool {
	if r.class != nil {
		return p.Namespace == r.class.Namespace && p.Class == r.class.Name
	}
	return r.visible(p) && r.agrees(p)
}

// live says that the plan can be chosen.
func (r *round) live(p *PlanEntry) bool { return r.whyGone(p) == "" }

// whyGone is WhyGone of a plan of the catalog.
func (r *round) whyGone(p *PlanEntry) string { return WhyGone(r.classOf(p), p) }

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

// believed returns the plan that the type's record names in the scope, if it is live and still of that type. A record
// that names any other plan is left over from one, and annotations count.
func (r *round) believed(typ, scope string) *PlanEntry {
	if typ == "" {
		return nil
	}
	rec := r.records.get(Ref{Namespace: scope, Name: typ})
	if rec == nil || rec.Plan.Name == "" {
		return nil
	}
	p := r.plans.get(rec.Plan)
	if p == nil || !r.live(p) || r.typeOf(p) != typ {
		return nil
	}
	return p
}

// isDefault says that the plan is its type's default in its scope: the recorded one, or with none recorded any that
// is annotated. A plan without a type has no record, and its annotation speaks within its class only.
func (r *round) isDefault(p *PlanEntry) bool {
	if recorded := r.believed(r.typeOf(p), p.Namespace); recorded != nil {
		return recorded == p
	}
	return p.Default
}
