package lifecycle

import "time"

// stores says that the credentials of something that is not recorded to exist are those in
// the Secret, and that it was not begun to be removed.
func (t *Resource) stores(f *Facts) bool {
	r := &t.Record
	return f.Stored && t.Kind == Binding && !r.Exists && r.InProgress != nil && r.Operation != Deprovisioning
}

// foundStored: the Secret has the credentials of a binding that is not recorded to exist. The
// answer that they were in was lost after they were stored.
func (n next) foundStored() Decision {
	t, f := n.resource, n.facts
	c := call{resource: t, facts: f, decision: Decision{Step: Provision}, record: t.Record}
	o := c.believed()
	if t.Rotating {
		o.Event = rotated()
	}
	return Decision{Step: Rest, Record: o.Record, Event: o.Event}
}

// believes says that credentials which are in the Secret are asked for once more, for what was told
// with them, and that the answer would have them undone, or given up: they are valid all the same.
// What the specification says is to be removed is removed even so.
func (c *call) believes(result CallResult, o *Outcome) bool {
	asks := c.decision.Step == Provision || c.decision.Step == Fetch
	if !asks || !c.resource.stores(c.facts) || result.Err != nil && Orphans(c.decision.Step, asError(result.Err)) {
		return false
	}
	return o.Record.Mitigating || o.Record.failedForGood()
}

// believed: the broker has what the Secret has the credentials of.
func (c *call) believed() Outcome {
	c.words = words(Binding, Provision)
	c.record.Deadline, c.record.Mitigating, c.record.KeepsID = time.Time{}, false, false
	c.record.ObservedGeneration = c.resource.Generation // a binding is never changed
	return c.exists()
}
