package suggest

import (
	"fmt"

	"github.com/defaultplan/defaultplan/resolve"
)

// WhatThereIs leads to a listing.
const WhatThereIs = "see what there is"

// InScope is a scope in a sentence.
func InScope(namespace string) string {
	if namespace == "" {
		return "in the cluster"
	}
	return fmt.Sprintf("in namespace %q", namespace)
}

// ObjectNamed is an object in a sentence; kind is that of a namespaced one.
func ObjectNamed(kind string, ref resolve.Ref) string {
	if ref.Namespace == "" {
		kind = "Cluster" + kind
	}
	return fmt.Sprintf("%s %q", kind, ref.Name)
}
