package osb

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
)

// catalog reads a catalog; nil where the broker says that it did not change. One without
// "services" is refused: what answers {} is no broker, and to take it for an empty catalog
// would remove every plan.
func (a *httpResponse) catalog() (*Catalog, error) {
	if a.status == http.StatusNotModified {
		return nil, nil //nolint:nilnil // as Client.Catalog says
	}
	body := a.open()
	catalog := readCatalog(body, a.limit.plans, a.scrub)
	catalog.Size = len(a.body)
	if len(a.etag) <= maxETag {
		catalog.ETag = a.etag
	}
	return lawfully(a, body, catalog)
}

// UnmarshalJSON reads a catalog as the client does: leniently, with what cannot be
// read in Skipped. It is an error only if there is no list of services, or null in its
// place.
func (c *Catalog) UnmarshalJSON(data []byte) error {
	body := open(data)
	*c = *readCatalog(body, DefaultMaxPlans, strings.NewReplacer())
	if *body.wrong != "" {
		return errors.New("cannot read the catalog: " + *body.wrong)
	}
	return nil
}

// readCatalog reads each service and each plan by itself, so that its mistakes are its
// own. What is skipped is told: our secrets are taken out of its names. It has at most so
// many services, and plans of all of them.
func readCatalog(body *reading, most int, scrub *strings.Replacer) *Catalog {
	catalog := &Catalog{Services: []Service{}}
	if _, ok := body.fields["services"]; !ok {
		body.blame("services", "is not there")
	}
	services, plans := body.list("services"), 0
	if len(services) > most {
		body.blame("services", fmt.Sprintf("has more than %d services", most))
		return catalog
	}
	for index, raw := range services {
		entry := open(raw)
		service := entry.service(index)
		named := sync.OnceValue(func() string { return entry.name("services", index, scrub) })
		if *entry.wrong != "" {
			catalog.skip(named(), "", *entry.wrong)
			continue
		}
		all := entry.list("plans")
		if plans += len(all); plans > most {
			break
		}
		for index, raw := range all {
			variant := open(raw)
			plan := variant.plan(index)
			if *variant.wrong != "" {
				catalog.skip(named(), variant.name("plans", index, scrub), *variant.wrong)
				continue
			}
			service.Plans = append(service.Plans, plan)
		}
		catalog.Services = append(catalog.Services, service)
	}
	if plans > most {
		body.blame("services", fmt.Sprintf("has more than %d plans", most))
	}
	return catalog
}

func (c *Catalog) skip(service, plan, reason string) {
	c.Skipped = append(c.Skipped, Skip{Service: service, Plan: plan, Reason: reason})
}

// longestScrubbed is how much of a name is looked at, which may be megabytes.
const longestScrubbed = 64 * maxName

// name is how people find an entry: by its name, or where it stands. A secret is looked for
// in what is shown, and in a bit more of it than is.
func (r *reading) name(list string, index int, scrub *strings.Replacer) string {
	if text := Printable(scrub.Replace(Printable(hint[string](r, "name"), longestScrubbed)), maxName); text != "" {
		return text
	}
	return fmt.Sprintf("%s[%d]", list, index)
}

// service reads an offering, but for its plans.
func (r *reading) service(index int) Service {
	r.list("plans")
	s := Service{
		Index: index, ID: r.text("id"), Name: r.text("name"), Bindable: r.flag("bindable"),
		InstancesRetrievable: r.flag("instances_retrievable"), BindingsRetrievable: r.flag("bindings_retrievable"),
		AllowContextUpdates: r.flag("allow_context_updates"), PlanUpdatable: r.flag("plan_updateable"),
	}
	hints := r.optional(&s.LeftOut)
	s.Description, s.Tags, s.Requires, s.Metadata = hints.text("description"), hints.texts("tags"), hints.texts("requires"), hints.rawObject("metadata")
	return s
}

func (r *reading) plan(index int) Plan {
	p := Plan{
		Index: index, ID: r.text("id"), Name: r.text("name"),
		Free: r.flagPointer("free"), Bindable: r.flagPointer("bindable"),
		PlanUpdatable: r.flagPointer("plan_updateable"), BindingRotatable: r.flagPointer("binding_rotatable"),
		MaximumPollingDuration: r.whole("maximum_polling_duration"),
	}
	hints := r.optional(&p.LeftOut)
	p.Description, p.Tags, p.Metadata = hints.text("description"), hints.texts("tags"), hints.rawObject("metadata")
	p.Schemas, p.MaintenanceInfo = hints.schemas(), r.maintenanceInfo(&p.LeftOut)
	return p
}

// maintenanceInfo is nil without a version: what brokerapi writes in its place
// ("Version", "public") means nothing, and must not be sent back.
func (r *reading) maintenanceInfo(leftOut *[]LeftOut) *MaintenanceInfo {
	info := r.inside("maintenance_info")
	version := info.text("version")
	if version == "" {
		return nil
	}
	return &MaintenanceInfo{Version: version, Description: info.optional(leftOut).text("description")}
}

// schemas is nil where no schema was given.
func (r *reading) schemas() *Schemas {
	schemas := r.inside("schemas")
	instance, binding := schemas.inside("service_instance"), schemas.inside("service_binding")
	read := Schemas{
		InstanceCreate: instance.inside("create").raw("parameters"),
		InstanceUpdate: instance.inside("update").raw("parameters"),
		BindingCreate:  binding.inside("create").raw("parameters"),
	}
	if read.InstanceCreate == nil && read.InstanceUpdate == nil && read.BindingCreate == nil {
		return nil
	}
	return &read
}
