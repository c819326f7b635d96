package osbtest

import (
	"maps"
	"net/http"
	"reflect"
)

// instanceActions are what calls about instances do, and what they answer.
type instanceActions struct {
	offer      *offer
	books      *books
	operations *operations
}

// entry is an instance as any other entry of the books.
func (a *instanceActions) entry(instance *Instance) entry {
	shown := map[string]any{"dashboard_url": instance.DashboardURL}
	return entry{
		at: target{instance: instance.ID}, plan: planKey{instance.ServiceID, instance.PlanID},
		state: &instance.State, creates: &instance.Creates,
		enter:     func() { a.books.instances[instance.ID] = instance },
		announced: shown,
		shown:     func() map[string]any { return shown },
	}
}

func (a *instanceActions) provision(v *visit) response {
	key := planKey{v.text("service_id"), v.text("plan_id")}
	if known := a.books.instances[v.InstanceID]; known != nil {
		return a.operations.again(v, a.entry(known), a.repeats(v, known))
	}
	if refusal, refused := a.offer.unlisted(key); refused {
		return refusal
	}
	if v.text("organization_guid") == "" || v.text("space_guid") == "" || v.InstanceID == "" {
		return refuse(http.StatusBadRequest, "", "organization_guid and space_guid are required")
	}
	if refusal, refused := a.offer.outdated(v, key); refused {
		return refusal
	}
	instance := &Instance{
		ID: v.InstanceID, ServiceID: key.service, PlanID: key.plan, Organization: v.text("organization_guid"), Space: v.text("space_guid"),
		Parameters: v.object("parameters"), Context: v.object("context"), MaintenanceVersion: a.offer.plans[key].MaintenanceInfo.Version,
		DashboardURL: "https://dashboard.example/instances/" + v.InstanceID, State: Creating, Identity: v.Identity,
	}
	return a.operations.create(v, a.entry(instance))
}

// repeats says whether a request for an instance that exists is the same again.
func (a *instanceActions) repeats(v *visit, known *Instance) bool {
	return known.ServiceID == v.text("service_id") && known.PlanID == v.text("plan_id") &&
		known.Organization == v.text("organization_guid") && known.Space == v.text("space_guid") && equal(known.Parameters, v.object("parameters"))
}

// equal compares parameters; none and no keys are the same.
func equal(a, b map[string]any) bool {
	return len(a) == 0 && len(b) == 0 || reflect.DeepEqual(a, b)
}

// update changes an instance. Parameters that are given replace all of those before:
// the specification leaves it to the broker, and this one is simple.
func (a *instanceActions) update(v *visit) response {
	known := a.books.instances[v.InstanceID]
	if known == nil {
		return refuse(http.StatusNotFound, "", "there is no such instance")
	}
	if a.books.operations[v.target()].running() {
		return busy()
	}
	if known.State == Broken || known.ServiceID != v.text("service_id") {
		return refuse(http.StatusBadRequest, "", "the instance is broken, or of another service")
	}
	next, refusal := a.changed(v, *known)
	if next == nil {
		return refusal
	}
	return a.operations.start(v, work{
		plan:  planKey{known.ServiceID, known.PlanID},
		begin: func() { known.State = Updating },
		succeed: func() {
			*known = *next
			known.State = Ready
			known.Updates++
			a.books.history(known.ID).Changed++
		},
		fail:   func() { known.State = Ready },
		answer: func() response { return ok(nil) },
	})
}

// changed is the instance as an update wants it; nil where it is refused.
func (a *instanceActions) changed(v *visit, next Instance) (*Instance, response) {
	was := planKey{next.ServiceID, next.PlanID}
	if plan := v.text("plan_id"); plan != "" && plan != was.plan {
		if refusal, refused := a.offer.unlisted(planKey{was.service, plan}); refused {
			return nil, refusal
		}
		if !a.offer.updatable(was) {
			return nil, refuse(http.StatusUnprocessableEntity, "", "the plan cannot be changed")
		}
		next.PlanID = plan
	}
	if refusal, refused := a.offer.outdated(v, planKey{next.ServiceID, next.PlanID}); refused {
		return nil, refusal
	}
	if version, _ := v.object("maintenance_info")["version"].(string); version != "" {
		next.MaintenanceVersion = version
	}
	if v.given("parameters") {
		next.Parameters = v.object("parameters")
	}
	if v.given("context") {
		next.Context = v.object("context")
	}
	return &next, response{}
}

// deprovision removes an instance. One whose creation runs is halted.
func (a *instanceActions) deprovision(v *visit) response {
	known := a.books.instances[v.InstanceID]
	if known == nil {
		return response{status: http.StatusGone}
	}
	if known.ServiceID != v.Query.Get("service_id") || known.PlanID != v.Query.Get("plan_id") {
		return refuse(http.StatusBadRequest, "", "service_id and plan_id are not those of the instance")
	}
	switch op := a.books.operations[v.target()]; {
	case op.running() && op.verb == Deprovision:
		return a.operations.announce(v, op)
	case op.running() && op.verb == Update:
		return busy()
	case a.books.bound[known.ID] > 0:
		return refuse(http.StatusBadRequest, "", "the instance has bindings")
	}
	return a.operations.remove(v, a.entry(known))
}

func (a *instanceActions) fetch(v *visit) response {
	known := a.books.instances[v.InstanceID]
	switch {
	case known == nil, known.State == Creating, known.State == Broken, !a.offer.services[known.ServiceID].InstancesRetrievable:
		return refuse(http.StatusNotFound, "", "there is none to fetch")
	case known.State != Ready:
		return busy()
	}
	body := map[string]any{
		"service_id": known.ServiceID, "plan_id": known.PlanID, "dashboard_url": known.DashboardURL,
		"metadata": map[string]any{"labels": map[string]any{}, "attributes": map[string]any{}},
	}
	if len(known.Parameters) > 0 {
		body["parameters"] = maps.Clone(known.Parameters)
	}
	if known.MaintenanceVersion != "" {
		body["maintenance_info"] = map[string]any{"version": known.MaintenanceVersion}
	}
	return ok(body)
}
