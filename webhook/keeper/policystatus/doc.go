// Package policystatus writes the status of policies: what each policy selects now,
// and whether it has any effect. Only people read it, so it may be a moment behind:
// there is at most one round a second, and fewer in a large catalog.
package policystatus
