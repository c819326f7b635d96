package relist

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"github.com/defaultplan/defaultplan/osb"
)

// An Object is the desired class or plan of a catalog.
type Object struct {
	Kind            Kind
	Namespace, Name string
	// Service and Plan are the names at the broker; Plan is empty for a class.
	Service, Plan string
	// ExternalID is its ID at the broker.
	ExternalID string
	// Class is the name of a plan's class; empty for a class.
	Class string
	// Facts are the fields of its spec that the catalog says, ready for JSON.
	Facts map[string]any
	// Suggestions are what else the catalog proposes.
	Suggestions []Suggestion
	// Kept are where, by beginnings of paths, nothing can be told of what is suggested: it stays.
	Kept []string
	// Hash is the sum of the facts.
	Hash string
	// Costs are what a plan costs.
	Costs Costs
}

// A Class is a class with its plans.
type Class struct {
	Object

	// Plans are in the broker's order; there is at least one.
	Plans []Object
	// FreePlans and PaidPlans count them.
	FreePlans, PaidPlans int32
}

// Objects are the desired objects of a catalog.
type Objects struct {
	// Classes are in the broker's order.
	Classes []Class
	// Listed holds the IDs of the valid services and plans that the broker
	// lists, including those that restrictions exclude.
	Listed map[string]bool
	// Unfit holds the IDs of the invalid ones: their existing objects stay
	// unchanged.
	Unfit map[string]bool
	// Unread holds the names of those that could not even be decoded, as
	// unreadName formats them: their existing objects stay, too.
	Unread map[string]bool
}

// unreadName is a service, or with a plan that plan of it, in Objects.Unread.
func unreadName(service, plan string) string { return service + "\x00" + plan }

// Wanted returns the desired classes and plans of a catalog, and what is
// skipped. It is deterministic: the same catalog gives the same objects, hashes
// and reasons. What restrictions exclude does not count as skipped.
func Wanted(broker Broker, catalog *osb.Catalog) (Objects, []Skipped) {
	r := &reading{
		broker: &broker, services: map[string]bool{}, plans: map[string]bool{}, names: map[string]bool{},
		wanted: Objects{Listed: map[string]bool{}, Unfit: map[string]bool{}, Unread: map[string]bool{}},
	}
	r.classKind, r.planKind = kindsOf(broker.Namespace)
	for _, unread := range catalog.Skipped {
		r.skipf(unread.Service, unread.Plan, "%s", unread.Reason)
		r.wanted.Unread[unreadName(unread.Service, unread.Plan)] = true
	}
	for i := range catalog.Services {
		r.service(&catalog.Services[i])
	}
	return r.wanted, r.skipped
}

// A reading is a catalog that is being read.
type reading struct {
	broker              *Broker
	classKind, planKind Kind

	// services and plans are the IDs, and names the services' names, that came before.
	services, plans, names map[string]bool

	wanted  Objects
	skipped []Skipped
}

func (r *reading) skipf(service, plan, format string, args ...any) {
	r.skipped = append(r.skipped, Skipped{Service: service, Plan: plan, Reason: fmt.Sprintf(format, args...)})
}

// service adds a service, with its valid plans.
func (r *reading) service(service *osb.Service) {
	title := titleOf(service.Name, "services", service.Index)
	if reason := r.serviceUnfit(service); reason != "" {
		r.skipf(title, "", "%s", reason)
		r.unfit(service)
		return
	}
	r.services[service.ID], r.names[service.Name], r.wanted.Listed[service.ID] = true, true, true
	class := Class{Object: Object{
		Kind: r.classKind, Namespace: r.broker.Namespace, Name: r.broker.nameOf(r.classKind, service.ID),
		Service: title, ExternalID: service.ID,
	}}
	tags := readTags(service.Tags)
	notes := &notes{}
	notes.leftOut(service.LeftOut)
	plans := r.plansOf(service, &class)
	suggested := suggestedOf(service, tags, plans, notes)
	if !r.broker.Restrictions.classTaken(&class.Object, service.Name) {
		return
	}
	r.takePlans(&class, plans, suggested, tags, service.LeftOut)
	if len(class.Plans) == 0 {
		return
	}
	class.Facts = classFacts(r.broker, service, notes)
	class.Suggestions = classSuggestions(tags, service.Metadata, notes)
	class.Kept = append(keptOfClass(service.LeftOut), keptOfPlan(service.LeftOut)...)
	class.seal(notes)
	r.tell(title, "", notes)
	r.wanted.Classes = append(r.wanted.Classes, class)
}

// unfit records an invalid service, and all of its plans.
func (r *reading) unfit(service *osb.Service) {
	r.wanted.Unfit[service.ID] = true
	for i := range service.Plans {
		r.wanted.Unfit[service.Plans[i].ID] = true
	}
}

func (r *reading) tell(service, plan string, notes *notes) {
	for _, note := range notes.texts {
		r.skipf(service, plan, "%s", note)
	}
}

// serviceUnfit says why a service is invalid.
func (r *reading) serviceUnfit(service *osb.Service) string {
	switch {
	case r.services[service.ID]:
		return fmt.Sprintf("its id %q is that of a service before it", shorten(service.ID))
	case r.names[service.Name]:
		return "its name is that of a service before it"
	case len(service.Plans) == 0:
		return "it has no plans"
	}
	return unfit(service.ID, service.Name, service.Description, service.Tags, service.Requires)
}

// A readPlan is a valid plan.
type readPlan struct {
	*osb.Plan

	tags  tags
	notes *notes
}

// plansOf are the valid plans of a service, in the broker's order. Others are
// skipped.
func (r *reading) plansOf(service *osb.Service, class *Class) []readPlan {
	var plans []readPlan
	names := map[string]bool{}
	for i := range service.Plans {
		plan := &service.Plans[i]
		title := titleOf(plan.Name, "plans", plan.Index)
		if reason := r.planUnfit(plan, names); reason != "" {
			r.skipf(class.Service, title, "%s", reason)
			r.wanted.Unfit[plan.ID] = true
			continue
		}
		r.plans[plan.ID], names[plan.Name], r.wanted.Listed[plan.ID] = true, true, true
		left := &notes{}
		left.leftOut(plan.LeftOut)
		plans = append(plans, readPlan{Plan: plan, tags: readTags(planTags(plan)), notes: left})
	}
	if len(plans) == 0 {
		r.skipf(class.Service, "", "it has no plan that could be taken over")
		r.wanted.Unfit[service.ID] = true
	}
	return plans
}

func (r *reading) planUnfit(plan *osb.Plan, names map[string]bool) string {
	switch {
	case r.plans[plan.ID]:
		return fmt.Sprintf("its id %q is that of a plan before it", shorten(plan.ID))
	case names[plan.Name]:
		return "its name is that of a plan before it"
	}
	return unfit(plan.ID, plan.Name, plan.Description, nil, nil)
}

// takePlans adds to a class its plans that the restrictions allow.
func (r *reading) takePlans(class *Class, plans []readPlan, suggested string, ofService tags, unread []osb.LeftOut) {
	for i := range plans {
		plan := &plans[i]
		object := Object{
			Kind: r.planKind, Namespace: r.broker.Namespace, Name: r.broker.nameOf(r.planKind, plan.ID),
			Service: class.Service, Plan: plan.Name, ExternalID: plan.ID, Class: class.Name,
		}
		free := plan.Free == nil || *plan.Free
		if !r.broker.Restrictions.planTaken(&object, plan.Name, free) {
			continue
		}
		object.Facts = planFacts(r.broker, &object, plan.Plan, plan.notes)
		object.Suggestions = planSuggestions(plan, suggested == plan.ID, ofService)
		object.Kept = append(keptOfPlan(plan.LeftOut), keptOfClass(unread)...)
		object.Costs = costsOf(plan)
		object.seal(plan.notes)
		r.tell(class.Service, plan.Name, plan.notes)
		class.Plans = append(class.Plans, object)
		if free {
			class.FreePlans++
		} else {
			class.PaidPlans++
		}
	}
}

// titleOf is a name, or for one without a name its position.
func titleOf(name, list string, index int) string {
	if name == "" {
		return fmt.Sprintf("%s[%d]", list, index)
	}
	return shorten(name)
}

// seal computes the hash of the object. One that is too large for the API
// server loses its metadata, which is for user interfaces only.
func (o *Object) seal(notes *notes) {
	text := applied(o.Facts)
	if len(text) > maxObject {
		notes.addf("its metadata is left out: with it, the %s would have %d bytes; at most %d are allowed", kinds[o.Kind].word, len(text), maxObject)
		delete(o.Facts, "externalMetadata")
		text = applied(o.Facts)
	}
	sum := sha256.Sum256(text)
	// The digit is the version of the written form.
	o.Hash = "1-" + hex.EncodeToString(sum[:16])
}
