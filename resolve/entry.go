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

// live says that the plan can be chosen. One whose class is not there cannot: the class's defaults would be missed
// for good.
func (r *round) live(p *PlanEntry) bool {
	if p.Gone != "" {
		return false
	}
	c := r.classOf(p)
	return c != nil && c.Gone == "" && Disagreement(c, p) == ""
}

// whyGone says why the plan is not live, completing "it is …"; empty where it is.
func (r *round) whyGone(p *PlanEntry) string {
	if p.Gone != "" {
		return p.Gone
	}
	c := r.classOf(p)
	if c == nil {
		return "of a class that does not exist"
	}
	if c.Gone != "" {
		return "of a class that is " + c.Gone
	}
	return Disagreement(c, p)
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
