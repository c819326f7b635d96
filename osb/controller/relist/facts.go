package relist

import (
	"encoding/json"
	"unicode/utf8"

	"github.com/defaultplan/defaultplan/osb"
)

// classFacts are the fields of a class's spec from the catalog. False values
// are included, so that another manager's true does not stay.
func classFacts(broker *Broker, service *osb.Service, notes *notes) map[string]any {
	class, _ := kindsOf(broker.Namespace)
	facts := map[string]any{
		kinds[class].broker:    broker.Name,
		"externalID":           service.ID,
		"externalName":         service.Name,
		"description":          service.Description,
		"bindable":             service.Bindable,
		"bindingRetrievable":   service.BindingsRetrievable,
		"planUpdatable":        service.PlanUpdatable,
		"instancesRetrievable": service.InstancesRetrievable,
		"allowContextUpdates":  service.AllowContextUpdates,
	}
	if len(service.Tags) > 0 {
		facts["tags"] = service.Tags
	}
	if len(service.Requires) > 0 {
		facts["requires"] = service.Requires
	}
	addObject(facts, "externalMetadata", "metadata", service.Metadata, notes)
	return facts
}

// planFacts are the fields of a plan's spec from the catalog.
func planFacts(broker *Broker, object *Object, plan *osb.Plan, notes *notes) map[string]any {
	kind := kinds[object.Kind]
	facts := map[string]any{
		kind.broker:        broker.Name,
		kind.class:         map[string]any{"name": object.Class},
		"externalID":       plan.ID,
		"externalName":     plan.Name,
		"description":      plan.Description,
		"free":             plan.Free == nil || *plan.Free,
		"bindingRotatable": plan.BindingRotatable != nil && *plan.BindingRotatable,
	}
	if plan.Bindable != nil {
		facts["bindable"] = *plan.Bindable
	}
	if plan.PlanUpdatable != nil {
		facts["planUpdatable"] = *plan.PlanUpdatable
	}
	addPolling(facts, plan, notes)
	addMaintenance(facts, plan.MaintenanceInfo, notes)
	addObject(facts, "externalMetadata", "metadata", plan.Metadata, notes)
	if plan.Schemas != nil {
		addObject(facts, "instanceCreateParameterSchema", "schema for provisioning", plan.Schemas.InstanceCreate, notes)
		addObject(facts, "instanceUpdateParameterSchema", "schema for updating", plan.Schemas.InstanceUpdate, notes)
		addObject(facts, "serviceBindingCreateParameterSchema", "schema for binding", plan.Schemas.BindingCreate, notes)
	}
	return facts
}

func addPolling(facts map[string]any, plan *osb.Plan, notes *notes) {
	switch most := plan.MaximumPollingDuration; {
	case most == nil:
	case *most < 0:
		notes.addf("its maximum_polling_duration is %d, which is left out: it must not be negative", *most)
	default:
		facts["maximumPollingDuration"] = *most
	}
}

func addMaintenance(facts map[string]any, info *osb.MaintenanceInfo, notes *notes) {
	if info == nil || info.Version == "" {
		return
	}
	if utf8.RuneCountInString(info.Version) > maxVersion || utf8.RuneCountInString(info.Description) > maxDescription {
		notes.addf("its maintenance_info is left out: it is too long")
		return
	}
	said := map[string]any{"version": info.Version}
	if info.Description != "" {
		said["description"] = info.Description
	}
	facts["maintenanceInfo"] = said
}

// addObject adds a JSON object unchanged, unless there is none, or the API
// server would reject it.
func addObject(facts map[string]any, field, what string, raw json.RawMessage, notes *notes) {
	if len(raw) == 0 || string(raw) == "null" {
		return
	}
	most := maxSchema
	if field == "externalMetadata" {
		most = maxMetadata
	}
	value, err := decode(raw)
	_, is := value.(map[string]any)
	switch {
	case err != nil:
		notes.addf("its %s is left out: %s", what, err.Error())
	case value == nil:
	case !is:
		notes.addf("its %s is left out: it is not an object", what)
	default:
		// As text it takes a fraction of the memory, and is written the same.
		text := applied(value)
		if len(text) > most {
			notes.addf("its %s is left out: it has %d bytes; at most %d are allowed", what, len(text), most)
			return
		}
		facts[field] = json.RawMessage(text)
	}
}
