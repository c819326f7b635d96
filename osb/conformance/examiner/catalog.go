package examiner

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
)

// A service is an offering as far as it decides what is asked for.
type service struct {
	ID                   string   `json:"id"`
	Name                 string   `json:"name"`
	Bindable             bool     `json:"bindable"`
	InstancesRetrievable bool     `json:"instances_retrievable"`
	BindingsRetrievable  bool     `json:"bindings_retrievable"`
	AllowContextUpdates  bool     `json:"allow_context_updates"`
	PlanUpdatable        bool     `json:"plan_updateable"`
	Requires             []string `json:"requires"`
	Plans                []plan   `json:"plans"`
}

type plan struct {
	ID               string `json:"id"`
	Name             string `json:"name"`
	Bindable         *bool  `json:"bindable"`
	PlanUpdatable    *bool  `json:"plan_updateable"`
	BindingRotatable bool   `json:"binding_rotatable"`
	MaintenanceInfo  *struct {
		Version string `json:"version"`
	} `json:"maintenance_info"`
}

func (s *service) bindable(p *plan) bool {
	if p.Bindable != nil {
		return *p.Bindable
	}
	return s.Bindable
}

func (s *service) updatable(p *plan) bool {
	if p.PlanUpdatable != nil {
		return *p.PlanUpdatable
	}
	return s.PlanUpdatable
}

// other is a plan beside another one; nil if there is none.
func (s *service) other(p *plan) *plan {
	for i := range s.Plans {
		if s.Plans[i].ID != p.ID {
			return &s.Plans[i]
		}
	}
	return nil
}

// catalogs are what a broker offers, and to which clients.
type catalogs struct{ *examiner }

// readCatalog fetches and judges the catalog, and chooses the plan.
func (e *catalogs) readCatalog() error {
	a, err := e.send(e.ctx, request{method: http.MethodGet, path: "/v2/catalog"})
	switch {
	case err != nil:
		return err
	case a.status == http.StatusUnauthorized, a.status == http.StatusForbidden, a.status == http.StatusPreconditionFailed:
		return fmt.Errorf("the broker does not let the examination in: it answered the catalog with %d", a.status)
	}
	services, is := a.body["services"].([]any)
	e.judgef("CAT-1", a.status == http.StatusOK && is, "answered %d, or without a list of services", a.status)
	if !is {
		return errors.New("the broker has no catalog that could be read")
	}
	e.checkCatalog(services)
	return e.choose(services)
}

// choose takes the service and plan that are asked for, or the first.
func (e *catalogs) choose(services []any) error {
	for _, each := range services {
		var s service
		if text, err := json.Marshal(each); err != nil || json.Unmarshal(text, &s) != nil {
			continue
		}
		if !named(e.options.Service, s.ID, s.Name) {
			continue
		}
		for i := range s.Plans {
			if named(e.options.Plan, s.Plans[i].ID, s.Plans[i].Name) {
				e.service, e.plan = &s, &s.Plans[i]
				return nil
			}
		}
	}
	return errors.New("the catalog has no such plan that could be read: name another with --service and --plan")
}

func named(wanted, id, name string) bool { return wanted == "" || wanted == id || wanted == name }

// unique is what has been seen of IDs or names.
type unique map[string]bool

// fresh says whether a value is a string, not empty, and new.
func (u unique) fresh(value any) bool {
	text, _ := value.(string)
	defer func() { u[text] = true }()
	return text != "" && !u[text]
}

// checkCatalog judges all offerings and plans. What is wrong is said by its place: a name
// that is no string has nothing to be called by.
func (e *catalogs) checkCatalog(services []any) {
	names, ids, planIDs := unique{}, unique{}, unique{}
	for i, each := range services {
		s, _ := each.(object)
		place := fmt.Sprintf("services[%d]", i)
		e.judgef("CAT-2", names.fresh(s["name"]), "%s: name", place)
		e.judgef("CAT-3", ids.fresh(s["id"]), "%s: id", place)
		_, says := s["bindable"].(bool)
		e.judgef("CAT-4", says && isText(s["description"]), "%s: bindable or description", place)
		plans, _ := s["plans"].([]any)
		e.judgef("CAT-5", len(plans) > 0, "%s: no plans", place)
		planNames := unique{}
		for j, one := range plans {
			p, _ := one.(object)
			at := fmt.Sprintf("%s.plans[%d]", place, j)
			e.judgef("CAT-6", planIDs.fresh(p["id"]), "%s: id", at)
			e.judgef("CAT-7", planNames.fresh(p["name"]), "%s: name", at)
			e.judgef("CAT-8", isText(p["description"]), "%s: description", at)
			e.checkPlan(at, p)
		}
	}
}

func isText(value any) bool {
	text, _ := value.(string)
	return text != ""
}

// semver is the expression that semver.org suggests.
var semver = regexp.MustCompile(`^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)` +
	`(?:-((?:0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*)(?:\.(?:0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*))*))?(?:\+([0-9a-zA-Z-]+(?:\.[0-9a-zA-Z-]+)*))?$`)

// checkPlan judges the schemas and the maintenance_info of a plan.
func (e *catalogs) checkPlan(place string, p object) {
	if info, has := p["maintenance_info"]; has && info != nil {
		fields, _ := info.(object)
		version, _ := fields["version"].(string)
		e.judgef("CAT-12", semver.MatchString(version), "%s: maintenance_info.version", place)
	}
	schemas, _ := p["schemas"].(object)
	instance, _ := schemas["service_instance"].(object)
	binding, _ := schemas["service_binding"].(object)
	for name, holder := range map[string]any{"service_instance.create": instance["create"], "service_instance.update": instance["update"], "service_binding.create": binding["create"]} {
		input, _ := holder.(object)
		if schema, is := input["parameters"].(object); is {
			e.checkSchema(place+"."+name, schema)
		}
	}
}

// maxSchema is the most that a schema may have, in bytes.
const maxSchema = 64 << 10

func (e *catalogs) checkSchema(place string, schema object) {
	e.judgef("CAT-9", isText(schema["$schema"]), "%s: no $schema", place)
	e.judgef("CAT-10", !refersOutside(schema), "%s: a $ref that leaves the schema", place)
	text, err := json.Marshal(schema)
	e.judgef("CAT-11", err == nil && len(text) <= maxSchema, "%s: %d bytes", place, len(text))
}

// refersOutside says whether a $ref anywhere in a schema does not stay within it.
func refersOutside(value any) bool {
	switch v := value.(type) {
	case object:
		for key, inner := range v {
			reference, is := inner.(string)
			if key == "$ref" && is && !strings.HasPrefix(reference, "#") || refersOutside(inner) {
				return true
			}
		}
	case []any:
		return slices.ContainsFunc(v, refersOutside)
	}
	return false
}

// readCatalogAgain judges whether the names of the chosen service and plan have their IDs still.
func (e *catalogs) readCatalogAgain() {
	a := e.ask(request{method: http.MethodGet, path: "/v2/catalog"})
	services, _ := a.body["services"].([]any)
	found := idsOf(services, e.service.Name)
	if len(found) == 0 {
		return // It is offered no more, or no catalog came.
	}
	e.judgef("CAT-13", found[e.service.ID] != nil, "the chosen offering has another id than before")
	if again := found[e.service.ID]; again != nil {
		plans, _ := again["plans"].([]any)
		ids := idsOf(plans, e.plan.Name)
		e.judgef("CAT-13", len(ids) == 0 || ids[e.plan.ID] != nil, "the chosen plan has another id than before")
	}
}

// idsOf are the offerings or plans of a name, by their IDs.
func idsOf(list []any, name string) map[string]object {
	found := map[string]object{}
	for _, each := range list {
		one, _ := each.(object)
		if id, is := one["id"].(string); is && one["name"] == name {
			found[id] = one
		}
	}
	return found
}

// checkAccess judges how requests without the right credentials are answered.
func (e *catalogs) checkAccess() {
	if cmp.Or(e.username, e.password, e.token) == "" {
		for _, id := range []string{"AUTH-1", "AUTH-2"} {
			e.sheet.Pass(id, "no credentials are used")
		}
		return
	}
	wrong := e.ask(request{method: http.MethodGet, path: "/v2/catalog", access: wrongCredentials})
	e.judgef("AUTH-1", wrong.status == http.StatusUnauthorized, "answered %s", wrong)
	none := e.ask(request{method: http.MethodGet, path: "/v2/catalog", access: noCredentials})
	e.judgef("AUTH-2", none.status == http.StatusUnauthorized, "answered %s", none)
}
