package osbtest

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"maps"
	"net/http"
	"time"
)

func (b *Broker) bind(v *visit) response {
	at := v.target()
	instance := b.books.instances[v.InstanceID]
	if instance == nil {
		return refuse(http.StatusNotFound, "", "there is no such instance")
	}
	if known := b.books.bindings[at]; known != nil {
		return b.bindAgain(v, known)
	}
	if b.books.operations[target{instance: v.InstanceID}].running() {
		return busy()
	}
	key := planKey{instance.ServiceID, instance.PlanID}
	if (planKey{v.text("service_id"), v.text("plan_id")}) != key || v.BindingID == "" {
		return refuse(http.StatusBadRequest, "", "service_id and plan_id are not those of the instance")
	}
	if !b.offer.bindable(key) || instance.State == Broken || !b.rotates(v, key) {
		return refuse(http.StatusBadRequest, "", "the instance cannot be bound so")
	}
	binding := b.fresh(v, key)
	return b.start(v, work{
		plan: key,
		begin: func() {
			b.books.bindings[at] = binding
			b.books.bound[at.instance]++
			b.books.history(binding.ID).Made++
			binding.Creates = b.books.history(binding.ID).Made
			binding.Credentials = b.credentials(*binding)
		},
		succeed: func() { binding.State = Ready },
		fail:    func() { binding.State = Broken },
		answer: func() response {
			return response{status: http.StatusCreated, body: b.show(binding)}
		},
	})
}

// rotates says whether a bind names no predecessor, or one that it may.
func (b *Broker) rotates(v *visit, key planKey) bool {
	predecessor := v.text("predecessor_binding_id")
	if predecessor == "" {
		return true
	}
	before := b.books.bindings[target{v.InstanceID, predecessor}]
	return b.offer.plans[key].BindingRotatable && before != nil && before.State == Ready
}

// fresh is the binding that a call asks for. One that is rotated has the parameters of
// its predecessor.
func (b *Broker) fresh(v *visit, key planKey) *Binding {
	binding := &Binding{
		ID: v.BindingID, InstanceID: v.InstanceID, ServiceID: key.service, PlanID: key.plan,
		AppGUID: v.appGUID(), Parameters: v.object("parameters"), Context: v.object("context"),
		Predecessor: v.text("predecessor_binding_id"), State: Creating, Identity: v.Identity,
	}
	if before := b.books.bindings[target{v.InstanceID, binding.Predecessor}]; before != nil && binding.Parameters == nil {
		binding.Parameters = before.Parameters
	}
	if b.options.Lifetime > 0 {
		binding.ExpiresAt = b.options.Now().Add(b.options.Lifetime)
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
func (b *Broker) credentials(binding Binding) map[string]any {
	if b.options.Credentials != nil {
		return b.options.Credentials(binding)
	}
	kind := b.offer.serviceType(binding.ServiceID)
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
func (b *Broker) show(binding *Binding) map[string]any {
	body := map[string]any{}
	maps.Copy(body, b.options.Beside)
	if !b.options.OneShot || binding.Shown == 0 {
		binding.Shown++
		body["credentials"] = binding.Credentials
	}
	if b.options.Endpoints != nil {
		body["endpoints"] = b.options.Endpoints(*binding)
	}
	if !binding.ExpiresAt.IsZero() {
		renew := binding.ExpiresAt.Add(-b.options.Lifetime / 2)
		body["metadata"] = map[string]any{
			"expires_at": binding.ExpiresAt.UTC().Format("2006-01-02T15:04:05.0Z"), "renew_before": renew.UTC().Format("2006-01-02T15:04:05.0Z"),
		}
	}
	return body
}

func (b *Broker) bindAgain(v *visit, known *Binding) response {
	op := b.books.operations[v.target()]
	same := known.ServiceID == v.text("service_id") && known.PlanID == v.text("plan_id") && known.AppGUID == v.appGUID() &&
		(equal(known.Parameters, v.object("parameters")) || known.Predecessor != "") && known.Predecessor == v.text("predecessor_binding_id")
	switch {
	case op.running() && op.verb != Bind:
		return busy()
	case !same || known.State == Broken:
		return refuse(http.StatusConflict, "", "the binding exists, with other attributes")
	case op.running():
		return b.announce(v, op)
	}
	return ok(b.show(known))
}

func (b *Broker) unbind(v *visit) response {
	at := v.target()
	known := b.books.bindings[at]
	if known == nil {
		return response{status: http.StatusGone}
	}
	if known.ServiceID != v.Query.Get("service_id") || !b.books.hasPlan(known, v.Query.Get("plan_id")) {
		return refuse(http.StatusBadRequest, "", "service_id and plan_id are not those of the binding")
	}
	if op := b.books.operations[at]; op.running() && op.verb == Unbind {
		return b.announce(v, op)
	}
	if b.books.operations[target{instance: v.InstanceID}].running() {
		return busy()
	}
	was := known.State
	if was == Creating {
		was = Broken
	}
	return b.start(v, work{
		plan:  planKey{known.ServiceID, known.PlanID},
		begin: func() { known.State = Removing },
		succeed: func() {
			delete(b.books.bindings, at)
			b.books.bound[at.instance]--
			b.books.history(known.ID).Removed++
		},
		fail:   func() { known.State = was },
		answer: func() response { return ok(nil) },
	})
}

func (b *Broker) fetchBinding(v *visit) response {
	known := b.books.bindings[v.target()]
	if known == nil || known.State == Creating || known.State == Broken || !b.offer.services[known.ServiceID].BindingsRetrievable {
		return refuse(http.StatusNotFound, "", "there is none to fetch")
	}
	body := b.show(known)
	if len(known.Parameters) > 0 {
		body["parameters"] = known.Parameters
	}
	return ok(body)
}

// expired says whether a binding is past its time.
func (b *Binding) expired(now time.Time) bool {
	return !b.ExpiresAt.IsZero() && !now.Before(b.ExpiresAt)
}
