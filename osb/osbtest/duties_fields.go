package osbtest

import (
	"slices"
	"strings"
)

// headerDuties are what every call says of itself.
var headerDuties = []Duty{
	{"M1.1", "M1", "P01", "X-Broker-API-Version is sent, as 2.x", func(_ *judge, v *visit) string {
		return unless(strings.HasPrefix(v.Header.Get("X-Broker-Api-Version"), "2."), "no X-Broker-API-Version of 2.x")
	}},
	{"M1.2", "M1", "P11", "the broker's credentials are sent", func(_ *judge, v *visit) string {
		return unless(v.Authorized, "the credentials are not the broker's")
	}},
	{"M1.3", "M1", "P05", "every call has an ID", func(_ *judge, v *visit) string {
		return unless(v.RequestID != "", "no X-Broker-API-Request-Identity")
	}},
	{"M1.4", "M1", "P07", "a body is declared as JSON", func(_ *judge, v *visit) string {
		return unless(v.Raw == nil || strings.HasPrefix(v.Header.Get("Content-Type"), "application/json"), "the body is not declared as application/json")
	}},
	{"M2.1", "M2", "P02", "a user's call says whose it is", func(_ *judge, v *visit) string {
		// A deletion without it is orphan mitigation, and M10's.
		return unless(v.Identity != nil || !v.Verb.creates() && v.Verb != Update, "no originating identity")
	}},
	{"M2.2", "M2", "P06", "a catalog is fetched for no user", func(_ *judge, v *visit) string {
		return unless(v.Identity == nil || v.Verb != GetCatalog, "an originating identity with a catalog")
	}},
	{"M2.3", "M2", "P03", "an identity has all its keys, also empty ones", func(_ *judge, v *visit) string { return identityFlaw(v) }},
}

// identityFlaw is what is wrong with an identity, if there is one.
func identityFlaw(v *visit) string {
	if v.Identity == nil {
		return ""
	}
	value := v.Identity.Value
	_, username := value["username"].(string)
	_, uid := value["uid"].(string)
	_, groups := value["groups"].([]any)
	_, extra := value["extra"].(map[string]any)
	if !username || !uid || !groups || !extra {
		return "the originating identity is not base64 of an object with username, uid, groups and extra"
	}
	platform, given := v.object("context")["platform"].(string)
	return unless(!given || platform == v.Identity.Platform, "the originating identity is of another platform than the context")
}

// required are the fields of a body, or the query's parameters, that may not be empty.
var required = map[Verb][]string{
	Provision:    {"service_id", "plan_id", "organization_guid", "space_guid"},
	Update:       {"service_id"},
	Deprovision:  {"service_id", "plan_id"},
	Bind:         {"service_id", "plan_id"},
	Unbind:       {"service_id", "plan_id"},
	PollInstance: {"service_id", "plan_id"},
	PollBinding:  {"service_id", "plan_id"},
}

// contextual are the keys of a context of Kubernetes.
var contextual = map[Verb][]string{
	Provision: {"platform", "namespace", "clusterid", "instance_name"},
	Update:    {"platform", "namespace", "clusterid", "instance_name"},
	Bind:      {"platform", "namespace", "clusterid"},
}

// fieldDuties are what a call brings, and what it leaves out.
var fieldDuties = []Duty{
	{"M3.1", "M3", "P20 P31 P40 P61 P70 P80 P100", "what is required is there", func(_ *judge, v *visit) string {
		return lacking(required[v.Verb], v.hint)
	}},
	{"M3.2", "M3", "P20", "IDs are not empty", func(_ *judge, v *visit) string {
		bound := slices.Contains([]Verb{Bind, Unbind, FetchBinding, PollBinding}, v.Verb)
		return unless(v.Verb == GetCatalog || v.InstanceID != "" && (!bound || v.BindingID != ""), "an empty ID in the path")
	}},
	{"M3.3", "M3", "P30", "IDs are the catalog's", idsOffered},
	{"M3.4", "M3", "P40 profile", "the context says where", func(_ *judge, v *visit) string {
		context := v.object("context")
		if v.Verb == Update && context == nil {
			return ""
		}
		return lacking(contextual[v.Verb], func(key string) string {
			text, _ := context[key].(string)
			return text
		})
	}},
	{"M3.5", "M3", "P80", "a bind says for which application", func(_ *judge, v *visit) string {
		return unless(v.Verb != Bind || v.appGUID() != "", "no app_guid")
	}},
	{"M3.6", "M3", "P42", "what is optional is whole or absent", func(_ *judge, v *visit) string {
		version, _ := v.object("maintenance_info")["version"].(string)
		if v.given("maintenance_info") && version == "" {
			return "a maintenance_info without a version"
		}
		return unless(!v.given("parameters") || v.object("parameters") != nil, "parameters that are no object")
	}},
	{"M4.1", "M4", "P41", "asynchronous answers are accepted", func(_ *judge, v *visit) string {
		return unless(!v.Verb.mutates() || v.Query.Get("accepts_incomplete") == "true", "no accepts_incomplete=true")
	}},
	{"M5.1", "M5", "P100 P21", "the operation comes back byte by byte, if there is one", func(j *judge, v *visit) string {
		op := j.books.operations[v.target()]
		if !v.Verb.polls() || op == nil || !op.heard {
			return ""
		}
		return unless(v.Query.Has("operation") == (op.key != "") && v.Query.Get("operation") == op.key, "not the operation that was returned")
	}},
	{"M6.1", "M6", "P70 P100", "the plan is that before a change", planFlaw},
	{"M7.1", "M7", "P61", "what did not change is left out", unchangedFlaw},
}

func unless(kept bool, text string) string {
	if kept {
		return ""
	}
	return text
}

// lacking names the keys that a call has empty.
func lacking(keys []string, value func(string) string) string {
	var empty []string
	for _, key := range keys {
		if value(key) == "" {
			empty = append(empty, key)
		}
	}
	return unless(empty == nil, "no "+strings.Join(empty, ", "))
}

// idsOffered accepts what ever was in the catalog: instances outlive their plans.
func idsOffered(j *judge, v *visit) string {
	offering, variant := v.hint("service_id"), v.hint("plan_id")
	if offering == "" {
		return ""
	}
	if _, known := j.offer.services[offering]; !known {
		return "a service_id that never was in the catalog"
	}
	_, known := j.offer.plans[planKey{offering, variant}]
	return unless(known || variant == "", "a plan_id that never was in the catalog")
}

// planFlaw compares the plan of a call with the books.
func planFlaw(j *judge, v *visit) string {
	instance := j.books.instances[v.InstanceID]
	sent := v.Query.Get("plan_id")
	switch {
	case v.Verb.polls():
		op := j.books.operations[v.target()]
		return unless(op == nil || !op.heard || sent == op.plan.plan, "the plan_id is not the one from before the operation")
	case instance == nil || j.conduct.uncertain[v.InstanceID] || j.options.Crashes:
		return ""
	case v.Verb == Deprovision:
		return unless(sent == instance.PlanID, "the plan_id is not the instance's")
	case v.Verb == Unbind:
		binding := j.books.bindings[v.target()]
		return unless(binding == nil || j.books.hasPlan(binding, sent), "the plan_id is not the binding's")
	case v.Verb == Update:
		previous, given := v.object("previous_values")["plan_id"]
		return unless(!given || previous == instance.PlanID, "previous_values has another plan_id than the instance")
	}
	return ""
}

// unchangedFlaw is not found where the platform cannot know what its last update did.
func unchangedFlaw(j *judge, v *visit) string {
	instance := j.books.instances[v.InstanceID]
	if v.Verb != Update || instance == nil || j.conduct.uncertain[v.InstanceID] || j.options.Crashes {
		return ""
	}
	if v.text("plan_id") == instance.PlanID {
		return "a plan_id that does not change"
	}
	return unless(!v.given("parameters") || !equal(v.object("parameters"), instance.Parameters), "parameters that do not change")
}
