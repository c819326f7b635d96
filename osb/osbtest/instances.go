package osbtest

import (
	"maps"
	"net/http"
	"reflect"
)

// unlisted refuses what names no plan of the catalog as it is now.
func (b *Broker) unlisted(key planKey) (response, bool) {
	if b.offer.plans[key].live {
		return response{}, false
	}
	return refuse(http.StatusBadRequest, "", "service_id and plan_id are no offer of this broker"), true
}

// outdated refuses a maintenance version that is not the plan's, an empty one included.
func (b *Broker) outdated(v *visit, key planKey) (response, bool) {
	version, _ := v.object("maintenance_info")["version"].(string)
	if !v.given("maintenance_info") || version == b.offer.plans[key].MaintenanceInfo.Version && version != "" {
		return response{}, false
	}
	return refuse(http.StatusUnprocessableEntity, "MaintenanceInfoConflict", "maintenance_info is not that of the plan"), true
}

// busy refuses a call while another operation runs.
func busy() response {
	return refuse(http.StatusUnprocessableEntity, "ConcurrencyError", "another operation is in progress")
}

func (b *Broker) provision(v *visit) response {
	key := planKey{v.text("service_id"), v.text("plan_id")}
	if known := b.books.instances[v.InstanceID]; known != nil {
		return b.provisionAgain(v, known)
	}
	if refusal, refused := b.unlisted(key); refused {
		return refusal
	}
	if v.text("organization_guid") == "" || v.text("space_guid") == "" || v.InstanceID == "" {
		return refuse(http.StatusBadRequest, "", "organization_guid and space_guid are required")
	}
	if refusal, refused := b.outdated(v, key); refused {
		return refusal
	}
	instance := &Instance{
		ID: v.InstanceID, ServiceID: key.service, PlanID: key.plan, Organization: v.text("organization_guid"), Space: v.text("space_guid"),
		Parameters: v.object("parameters"), Context: v.object("context"), MaintenanceVersion: b.offer.plans[key].MaintenanceInfo.Version,
		DashboardURL: "https://dashboard.example/instances/" + v.InstanceID, State: Creating, Identity: v.Identity,
	}
	shown := map[string]any{"dashboard_url": instance.DashboardURL}
	return b.start(v, work{
		plan: key, announced: shown,
		begin: func() {
			b.books.instances[instance.ID] = instance
			b.books.history(instance.ID).Made++
			instance.Creates = b.books.history(instance.ID).Made
		},
		succeed: func() { instance.State = Ready },
		fail:    func() { instance.State = Broken },
		answer:  func() response { return response{status: http.StatusCreated, body: shown} },
	})
}

// provisionAgain answers a request for an instance that exists: the same again, or one
// that contradicts it.
func (b *Broker) provisionAgain(v *visit, known *Instance) response {
	op := b.books.operations[v.target()]
	same := known.ServiceID == v.text("service_id") && known.PlanID == v.text("plan_id") &&
		known.Organization == v.text("organization_guid") && known.Space == v.text("space_guid") && equal(known.Parameters, v.object("parameters"))
	switch {
	case op.running() && op.verb != Provision:
		return busy()
	case !same || known.State == Broken:
		return refuse(http.StatusConflict, "", "the instance exists, with other attributes")
	case op.running():
		return b.announce(v, op)
	}
	return ok(map[string]any{"dashboard_url": known.DashboardURL})
}

// equal compares parameters; none and no keys are the same.
func equal(a, b map[string]any) bool {
	return len(a) == 0 && len(b) == 0 || reflect.DeepEqual(a, b)
}

// update changes an instance. Parameters that are given replace all of those before:
// the specification leaves it to the broker, and this one is simple.
func (b *Broker) update(v *visit) response {
	known := b.books.instances[v.InstanceID]
	if known == nil {
		return refuse(http.StatusNotFound, "", "there is no such instance")
	}
	if b.books.operations[v.target()].running() {
		return busy()
	}
	if known.State == Broken || known.ServiceID != v.text("service_id") {
		return refuse(http.StatusBadRequest, "", "the instance is broken, or of another service")
	}
	next, refusal := b.changed(v, *known)
	if next == nil {
		return refusal
	}
	return b.start(v, work{
		plan:  planKey{known.ServiceID, known.PlanID},
		begin: func() { known.State = Updating },
		succeed: func() {
			*known = *next
			known.State = Ready
			known.Updates++
			b.books.history(known.ID).Changed++
		},
		fail:   func() { known.State = Ready },
		answer: func() response { return ok(nil) },
	})
}

// changed is the instance as an update wants it; nil where it is refused.
func (b *Broker) changed(v *visit, next Instance) (*Instance, response) {
	was := planKey{next.ServiceID, next.PlanID}
	if plan := v.text("plan_id"); plan != "" && plan != was.plan {
		if refusal, refused := b.unlisted(planKey{was.service, plan}); refused {
			return nil, refusal
		}
		if !b.offer.updatable(was) {
			return nil, refuse(http.StatusUnprocessableEntity, "", "the plan cannot be changed")
		}
		next.PlanID = plan
	}
	if refusal, refused := b.outdated(v, planKey{next.ServiceID, next.PlanID}); refused {
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
func (b *Broker) deprovision(v *visit) response {
	known := b.books.instances[v.InstanceID]
	if known == nil {
		return response{status: http.StatusGone}
	}
	if known.ServiceID != v.Query.Get("service_id") || known.PlanID != v.Query.Get("plan_id") {
		return refuse(http.StatusBadRequest, "", "service_id and plan_id are not those of the instance")
	}
	switch op := b.books.operations[v.target()]; {
	case op.running() && op.verb == Deprovision:
		return b.announce(v, op)
	case op.running() && op.verb == Update:
		return busy()
	case b.books.bound[known.ID] > 0:
		return refuse(http.StatusBadRequest, "", "the instance has bindings")
	}
	was := known.State
	if was == Creating {
		was = Broken
	}
	return b.start(v, work{
		plan:  planKey{known.ServiceID, known.PlanID},
		begin: func() { known.State = Removing },
		succeed: func() {
			delete(b.books.instances, known.ID)
			b.books.history(known.ID).Removed++
		},
		fail:   func() { known.State = was },
		answer: func() response { return ok(nil) },
	})
}

func (b *Broker) fetchInstance(v *visit) response {
	known := b.books.instances[v.InstanceID]
	switch {
	case known == nil, known.State == Creating, known.State == Broken, !b.offer.services[known.ServiceID].InstancesRetrievable:
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
