package cli

import "strings"

// PlanName is the rule for the name of a plan, NAME or CLASS/PLAN: its error is one of
// usage.
func PlanName(name string) error {
	class, plan, split := strings.Cut(name, "/")
	if name == "" || split && (class == "" || plan == "") {
		return Usagef("%q names no plan; give NAME or CLASS/PLAN", name)
	}
	return nil
}
