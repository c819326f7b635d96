// +kubebuilder:object:generate=true
// +groupName=servicecatalog.k8s.io

// Package v1beta1 holds the types of the group servicecatalog.k8s.io/v1beta1.
//
// Invariant: the wire stays what the retired Service Catalog wrote and read.
// A field may be added, always optional; none is renamed, retyped or removed,
// and what its typed clients send (nulls, empty enums, zeros) stays admissible.
// The package is a leaf: it imports no other package of this module.
package v1beta1
