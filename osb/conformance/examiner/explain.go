package examiner

// explain says of the rules of which nothing was seen why that is so, where one reason is
// plain.
func (e *examiner) explain() {
	for id, why := range map[string]string{
		"ERR-1": "no refusal had the field", "ERR-2": "no refusal had the field", "ERR-3": "no refusal had an object",
		"CAT-9": "no plan has a schema", "CAT-10": "no plan has a schema", "CAT-11": "no plan has a schema", "CAT-12": "no plan has maintenance_info",
		"PRO-7": "the plan has no maintenance_info", "UPD-8": "the plan has no maintenance_info",
		"POLL-1": "nothing was asynchronous", "POLL-4": "nothing was asynchronous, or no operation came",
		"PRO-2": "no provision was seen in progress", "PRO-3": "no provision was seen in progress", "GETI-3": "no provision was seen in progress",
		"GETI-4": "no update was seen in progress", "UPD-9": "no update was seen in progress, or the broker processes one request at a time",
		"BIND-2": "no bind was asynchronous", "BIND-3": "no bind was seen in progress", "GETB-3": "no bind was seen in progress",
		"UNB-5": "no unbind was seen in progress", "DEP-5": "no deprovision was seen in progress",
		"GETI-1": "instances are not retrievable", "GETI-2": "instances are not retrievable", "PRO-9": "no fetched instance had a dashboard_url",
		"UPD-3": "the plan can be changed, or there is no other", "UPD-4": "the plan was not seen before and after", "UPD-5": "the parameters were not seen before and after",
		"UPD-6": "instances are not retrievable, or nothing was refused", "PRO-8": "no dashboard_url came",
		"BIND-9": "no endpoints came", "BIND-10": "no expires_at or renew_before came", "BIND-11": "none of the fields came",
		"GETB-1": "bindings are not retrievable", "GETB-2": "bindings are not retrievable", "ROT-2": "no binding was rotated",
		"ERR-4": "no refused provision could be deprovisioned, or DEP-2 is broken",
	} {
		e.sheet.Explain(id, why)
	}
}
