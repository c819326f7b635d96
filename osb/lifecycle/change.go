package lifecycle

// Changes are the parts of an instance that an update changes.
type Changes struct {
	Plan, Parameters, Context, Maintenance bool
}

// Any says whether there is anything to update.
func (c Changes) Any() bool { return c.Plan || c.Parameters || c.Context || c.Maintenance }

// Changes compares what is asked for with what the broker last took. After an update
// of unknown outcome both what it sent and what was before may be there: whatever
// differs from either is sent.
func (t *Thing) Changes(ask *Ask) Changes {
	var c Changes
	c.compare(t.Record.Accepted, ask)
	c.compare(t.Record.InProgress, ask)
	return c
}

func (c *Changes) compare(before *Sent, ask *Ask) {
	if before == nil {
		return
	}
	c.Plan = c.Plan || before.PlanExternalID != ask.PlanExternalID
	c.Parameters = c.Parameters || before.ParameterChecksum != ask.ParameterChecksum
	// A context that was never recorded is not known to have changed.
	c.Context = c.Context || ask.AllowContextUpdates && before.ContextChecksum != "" && before.ContextChecksum != ask.ContextChecksum
	// A new version is only taken by whoever asks for it, or for another plan.
	c.Maintenance = c.Maintenance || ask.MaintenanceVersion != "" && before.MaintenanceVersion != ask.MaintenanceVersion &&
		(ask.UpdateRequests > before.UpdateRequests || before.PlanExternalID != ask.PlanExternalID)
}
