package lifecycle

// Changes are the parts of an instance that an update changes.
type Changes struct {
	Plan, Parameters, Context, Maintenance bool
}

// Any says whether there is anything to update.
func (c Changes) Any() bool { return c.Plan || c.Parameters || c.Context || c.Maintenance }

// Changes compares the desired request with the one that the broker last
// applied. After an update of unknown outcome the broker may have either the
// new or the former state: whatever differs from either is sent.
func (t *Resource) Changes(desired *Desired) Changes {
	c := compare(t.Record.Applied, desired).and(compare(t.Record.InProgress, desired))
	if t.Record.InProgress != nil && !c.Any() {
		// It was changed and changed back, and the last request may not have arrived.
		c.Plan, c.Parameters = desired.PlanUpdatable, true
	}
	return c
}

func (c Changes) and(more Changes) Changes {
	return Changes{
		Plan: c.Plan || more.Plan, Parameters: c.Parameters || more.Parameters,
		Context: c.Context || more.Context, Maintenance: c.Maintenance || more.Maintenance,
	}
}

func compare(before *Request, desired *Desired) Changes {
	if before == nil {
		return Changes{}
	}
	plan := before.PlanExternalID != desired.PlanExternalID
	return Changes{
		Plan:       plan,
		Parameters: before.ParameterChecksum != desired.ParameterChecksum,
		// A context that was never recorded is not known to have changed.
		Context: desired.AllowContextUpdates && before.ContextChecksum != "" && before.ContextChecksum != desired.ContextChecksum,
		// A new version is sent only if the user requests an update or changes the plan.
		Maintenance: desired.MaintenanceVersion != "" && before.MaintenanceVersion != desired.MaintenanceVersion &&
			(plan || desired.UpdateRequests > before.UpdateRequests),
	}
}
