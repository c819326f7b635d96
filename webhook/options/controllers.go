package options

import "strings"

// serviceAccounts is the prefix of the user names of ServiceAccounts.
const serviceAccounts = "system:serviceaccount:"

// IsController says whether a user is one of the controllers: the
// ServiceAccount defaultplan-controller, or one of its namespace with that name
// as a prefix, such as defaultplan-controller-east. The prefix grants nothing
// new: a user who may create ServiceAccounts there may also get the token of
// the first one.
func (o *Options) IsController(user string) bool {
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
