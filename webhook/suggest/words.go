package suggest

import (
	"fmt"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/resolve"
)

// WhatThereIs leads to a listing.
const WhatThereIs = "see what there is"

// InScope is a scope in a sentence.
func InScope(namespace string) string {
	return resolve.InScope(namespace)
}

// ObjectNamed is an object in a sentence; kind is that of a namespaced one.
func ObjectNamed(kind string, ref resolve.Ref) string {
	return fmt.Sprintf("%s %q", v1beta1.ScopedKind(ref.Namespace, kind), ref.Name)
}
