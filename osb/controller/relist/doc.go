// Package relist writes a broker's catalog into classes and plans.
//
// Wanted is pure: a broker and its catalog go in, the desired objects come out,
// and what is skipped and why. An Engine applies them, by server-side apply
// with two field managers: facts of the catalog are forced; suggestions (type,
// defaults, transforms, the suggested plan, attributes) are not, and another
// manager that owns such a field keeps it.
//
// An object is not written if its catalog hash, the fields that both managers own,
// and the suggested values are as desired. A manager that owns a field by apply
// implies that the value is the applied one, because a client that changes the value
// takes over ownership. So facts are compared by hash and owners alone, and a cache
// may drop schemas and metadata, but must keep the managedFields of classes and
// plans.
//
// The controlling owner reference decides to whom an object belongs. An object
// without one is user-defined and not changed, except one with the name of a
// desired object that is not annotated managed: "false".
package relist
