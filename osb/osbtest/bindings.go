package osbtest

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"maps"
	"net/http"
	"time"
)

// bindingActions are what calls about bindings do, and what they answer.
type bindingActions struct {
	options    *Options
	offer      *offer
	books      *books
	operations *operations
}

// entry is a binding as any other entry of the books.
func (a *bindingActions) entry(binding *Binding) entry {
	at := target{binding.InstanceID, binding.ID}
	return entry{
		at: at, plan: planKey{binding.ServiceID, binding.PlanID},
		state: &binding.State, creates: &binding.Creates,
		enter: func() {
			a.books.bindings[at] = binding
			a.books.bound[at.instance]++
			binding.Credentials = a.credentials(*binding)
		},
		shown: func() map[string]any { return a.show(binding) },
	}
}

func (a *bindingActions) bind(v *visit) response {
	instance := a.books.instances[v.InstanceID]
	if instance == nil {
		return refuse(http.StatusNotFound, "", "there is no such instance")
	}
	if known := a.books.bindings[v.target()]; known != nil {
		return a.operations.again(v, a.entry(known), a.repeats(v, known))
	}
	if a.books.operations[target{instance: v.InstanceID}].running() {
		return busy()
	}
	key := planKey{instance.ServiceID, instance.PlanID}
	if (planKey{v.text("service_id"), v.text("plan_id")}) != key || v.BindingID == "" {
		return refuse(http.StatusBadRequest, "", "service_id and plan_id are not those of the instance")
	}
	if !a.offer.bindable(key) || instance.State == Broken || !a.rotates(v, key) {
		return refuse(http.StatusBadRequest, "", "the instance cannot be bound so")
	}
	return a.operations.create(v, a.entry(a.fresh(v, key)))
}

// rotates says whether a bind names no predecessor, or one that it may.
func (a *bindingActions) rotates(v *visit, key planKey) bool {
	predecessor := v.text("predecessor_binding_id")
	if predecessor == "" {
		return true
	}
	before := a.books.bindings[target{v.InstanceID, predecessor}]
	return a.offer.plans[key].BindingRotatable && before != nil && before.State == Ready
}

// fresh is the binding that a call asks for. One that is rotated has the parameters of
// its predecessor.
func (a *bindingActions) fresh(v *visit, key planKey) *Binding {
	binding := &Binding{
		ID: v.BindingID, InstanceID: v.InstanceID, ServiceID: key.service, PlanID: key.plan,
		AppGUID: v.appGUID(), Parameters: v.object("parameters"), Context: v.object("context"),
		Predecessor: v.text("predecessor_binding_id"), State: Creating, Identity: v.Identity,
	}
	if before := a.books.bindings[target{v.InstanceID, binding.Predecessor}]; before != nil && binding.Parameters == nil {
		binding.Parameters = before.Parameters
	}
	if a.options.Lifetime > 0 {
		binding.ExpiresAt = a.options.Now().Add(a.options.Lifetime)
	}
	return binding
}

// appGUID is the application of a bind, by its name of today or its older one.
func (v *visit) appGUID() string {
	if id, _ := v.object("bind_resource")["app_guid"].(string); id != "" {
		return id
	}
	return v.text("app_guid")
}

// ports are those of well-known service types.
var ports = map[string]int{"mysql": 3306, "postgresql": 5432, "redis": 6379}

// credentials are those of a new binding: the same for the same binding made as often,
// and others for any other.
func (a *bindingActions) credentials(binding Binding) map[string]any {
	if a.options.Credentials != nil {
		return a.options.Credentials(binding)
	}
	kind := a.offer.serviceType(binding.ServiceID)
	port := cmp.Or(ports[kind], 443)
	sum := fmt.Sprintf("%x", sha256.Sum256(fmt.Appendf(nil, "%s %d", binding.ID, binding.Creates)))
	user := "user-" + sum[:6]
	if wished, _ := binding.Parameters["user"].(string); wished != "" {
		user = wished
	}
	host, name, password := "db-"+sum[6:12]+".example.com", "db"+sum[12:18], sum[18:42]
	return map[string]any{
		"host": host, "port": port, "username": user, "password": password, "db-name": name,
		"uri": fmt.Sprintf("%s://%s:%s@%s:%d/%s", kind, user, password, host, port, name),
	}
}

// show is the body of a binding. Credentials that are shown only once are left out
// after that, whether or not the platform received them.
func (a *bindingActions) show(binding *Binding) map[string]any {
	body := map[string]any{}
	maps.Copy(body, a.options.Beside)
	if !a.options.OneShot || binding.Shown == 0 {
		binding.Shown++
		body["credentials"] = binding.Credentials
	}
	if a.options.Endpoints != nil {
		body["endpoints"] = a.options.Endpoints(*binding)
	}
	if !binding.ExpiresAt.IsZero() {
		renew := binding.ExpiresAt.Add(-a.options.Lifetime / 2)
		body["metadata"] = map[string]any{
			"expires_at": binding.ExpiresAt.UTC().Format("2006-01-02T15:04:05.0Z"), "renew_before": renew.UTC().Format("2006-01-02T15:04:05.0Z"),
		}
	}
	return body
}

// repeats says whether a request for a binding that exists is the same again.
func (a *bindingActions) repeats(v *visit, known *Binding) bool {
	return known.ServiceID == v.text("service_id") && known.PlanID == v.text("plan_id") && known.AppGUID == v.appGUID() &&
		(equal(known.Parameters, v.object("parameters")) || known.Predecessor != "") && known.Predecessor == v.text("predecessor_binding_id")
}

func (a *bindingActions) unbind(v *visit) response {
	at := v.target()
	known := a.books.bindings[at]
	if known == nil {
		return response{status: http.StatusGone}
	}
	if known.ServiceID != v.Query.Get("service_id") || !a.books.hasPlan(known, v.Query.Get("plan_id")) {
		return refuse(http.StatusBadRequest, "", "service_id and plan_id are not those of the binding")
	}
	if op := a.books.operations[at]; op.running() && op.verb == Unbind {
		return a.operations.announce(v, op)
	}
	if a.books.operations[target{instance: v.InstanceID}].running() {
		return busy()
	}
	return a.operations.remove(v, a.entry(known))
}

func (a *bindingActions) fetch(v *visit) response {
	known := a.books.bindings[v.target()]
	if known == nil || known.State == Creating || known.State == Broken || !a.offer.services[known.ServiceID].BindingsRetrievable {
		return refuse(http.StatusNotFound, "", "there is none to fetch")
	}
	body := a.show(known)
	if len(known.Parameters) > 0 {
		body["parameters"] = known.Parameters
	}
	return ok(body)
}

// expired says whether a binding is past its time.
func (b *Binding) expired(now time.Time) bool {
	return !b.ExpiresAt.IsZero() && !now.Before(b.ExpiresAt)
}
