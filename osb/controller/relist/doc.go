// Package relist takes a broker's catalog over into classes and plans.
//
// Wanted is pure: a broker and its catalog in, the objects that the catalog asks for
// out, and what of it is skipped and why. An Engine makes the cluster agree, by
// server-side apply with two field managers: what the catalog says as a fact is
// forced; what it only suggests (type, defaults, transforms, the suggested plan,
// attributes) is not, and once anyone else owns such a field it is theirs.
//
// An object is not written when its catalog hash, the fields that both managers own,
// and the suggested values are as they should be. A manager that owns a field by
// apply implies that the value is the applied one, because a client that changes the
// value takes over ownership. So facts are compared by hash and owners alone, and a
// cache may drop schemas and metadata, but must keep the managedFields of classes
// and plans.
//
// Whose an object is, its controlling owner reference says. An object without one is
// the operator's and left alone, but for one that has the very name that a catalog
// asks for, unless it is annotated managed: "false".
package relist
