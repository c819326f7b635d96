package webhook

import "strings"

// serviceAccounts is how the names of users begin that are ServiceAccounts.
const serviceAccounts = "system:serviceaccount:"

// isController says whether a user is one of the controllers. Beside the ServiceAccount
// defaultplan-controller these are the ones of its namespace that are called after it, such
// as defaultplan-controller-east: whoever may make ServiceAccounts there may take the
// first one's token, too.
func (o *Options) isController(user string) bool {
	for _, controller := range o.Controllers {
		if controller == "" {
			continue
		}
		after, named := strings.CutPrefix(user, controller+"-")
		if user == controller || named && after != "" && strings.HasPrefix(controller, serviceAccounts) {
			return true
		}
	}
	return false
}
