package osbtest

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// An offer is a catalog, and whatever was ever in it: what was provisioned of a plan
// outlives the plan.
type offer struct {
	text     []byte
	etag     string
	services map[string]service
	plans    map[planKey]plan
}

// A planKey names a plan: plan IDs alone need not be unique.
type planKey struct{ service, plan string }

type service struct {
	ID                   string   `json:"id"`
	Tags                 []string `json:"tags"`
	Bindable             bool     `json:"bindable"`
	InstancesRetrievable bool     `json:"instances_retrievable"`
	BindingsRetrievable  bool     `json:"bindings_retrievable"`
	AllowContextUpdates  bool     `json:"allow_context_updates"`
	PlanUpdatable        bool     `json:"plan_updateable"`
	Plans                []plan   `json:"plans"`
}

type plan struct {
	ID                     string `json:"id"`
	Bindable               *bool  `json:"bindable"`
	PlanUpdatable          *bool  `json:"plan_updateable"`
	BindingRotatable       bool   `json:"binding_rotatable"`
	MaximumPollingDuration int64  `json:"maximum_polling_duration"`
	MaintenanceInfo        struct {
		Version string `json:"version"`
	} `json:"maintenance_info"`
	// live says that the plan is in the catalog now.
	live bool
}

func newOffer() *offer {
	return &offer{services: map[string]service{}, plans: map[planKey]plan{}}
}

// readServices are those of a catalog's JSON text.
func readServices(text []byte) ([]service, error) {
	var read struct {
		Services []service `json:"services"`
	}
	if err := json.Unmarshal(text, &read); err != nil {
		return nil, fmt.Errorf("cannot read catalog: %w", err)
	}
	if read.Services == nil {
		return nil, errors.New("cannot read catalog: it has no services")
	}
	return read.Services, nil
}

// replace offers the services of a catalog, whose text it is, instead of those before.
func (o *offer) replace(text []byte, services []service) {
	sum := sha256.Sum256(text)
	o.text, o.etag = bytes.Clone(text), fmt.Sprintf(`W/"%x"`, sum[:8])
	for key, old := range o.plans {
		old.live = false
		o.plans[key] = old
	}
	for _, offered := range services {
		o.services[offered.ID] = offered
		for _, variant := range offered.Plans {
			variant.live = true
			o.plans[planKey{offered.ID, variant.ID}] = variant
		}
	}
}

// bindable says whether a plan's instances can be bound: the plan's word, or else the
// service's.
func (o *offer) bindable(key planKey) bool {
	if own := o.plans[key].Bindable; own != nil {
		return *own
	}
	return o.services[key.service].Bindable
}

// updatable is as bindable, of changes from the plan to another.
func (o *offer) updatable(key planKey) bool {
	if own := o.plans[key].PlanUpdatable; own != nil {
		return *own
	}
	return o.services[key.service].PlanUpdatable
}

// serviceType is what a service's tags say of it, for the scheme of a URI.
func (o *offer) serviceType(id string) string {
	for _, tag := range o.services[id].Tags {
		if name, found := strings.CutPrefix(tag, "ServiceType="); found {
			return name
		}
	}
	return "service"
}

// unlisted refuses what names no plan of the catalog as it is now.
func (o *offer) unlisted(key planKey) (response, bool) {
	if o.plans[key].live {
		return response{}, false
	}
	return refuse(http.StatusBadRequest, "", "service_id and plan_id are no offer of this broker"), true
}

// outdated refuses a maintenance version that is not the plan's, an empty one included.
func (o *offer) outdated(v *visit, key planKey) (response, bool) {
	version, _ := v.object("maintenance_info")["version"].(string)
	if !v.given("maintenance_info") || version == o.plans[key].MaintenanceInfo.Version && version != "" {
		return response{}, false
	}
	return refuse(http.StatusUnprocessableEntity, "MaintenanceInfoConflict", "maintenance_info is not that of the plan"), true
}

// pollingGrace is what a platform's clock may be behind: it began to count later.
const pollingGrace = 5 * time.Second

// overdue says whether an operation takes longer than its plan allows.
func (o *offer) overdue(op *operation, now time.Time) bool {
	most := o.plans[op.plan].MaximumPollingDuration
	longest := time.Duration(most)*time.Second + pollingGrace
	return most > 0 && now.Sub(op.began) > longest
}

// serve answers with the catalog, or that it is the one that the platform has.
func (o *offer) serve(v *visit) response {
	header := http.Header{"Etag": {o.etag}}
	for known := range strings.SplitSeq(v.Header.Get("If-None-Match"), ",") {
		// Validators are compared weakly: with or without the W/.
		if strings.TrimPrefix(strings.TrimSpace(known), "W/") == strings.TrimPrefix(o.etag, "W/") {
			return response{status: http.StatusNotModified, header: header}
		}
	}
	return response{status: http.StatusOK, text: o.text, header: header}
}
