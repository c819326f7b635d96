package suggest

import "fmt"

// Claim asks for credentials together with an instance that is made for them alone.
func Claim(namespace string) Ways {
	return Ways{
		Svcat:   fmt.Sprintf("svcat bind NAME --type TYPE -n %s", Word(namespace)),
		Kubectl: "kubectl explain servicebinding.spec.serviceType",
	}
}
