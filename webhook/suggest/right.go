package suggest

import (
	"fmt"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/resolve"
)

// GrantDefault lets a user decide the default of a type. To patch the object is
// the same right by another verb, so that they come together.
func GrantDefault(serviceType resolve.Ref, user string) string {
	s, name := scopeOf(serviceType.Namespace), serviceType.Name+"-default"
	role, resource := s.prefix+"role", s.prefix+"servicetypes"
	return fmt.Sprintf("kubectl create %s %s%s --verb=get,update,patch --resource=%s.%s --resource-name=%s && kubectl create %sbinding %s%s --%s=%s --user=%s",
		role, s.kubectl, name, resource, v1beta1.GroupName, serviceType.Name, role, s.kubectl, name, role, name, Word(user))
}
