// Package catalog reads brokers, classes, plans and service types of both scopes
// as one kind of value each, and finds them by the names that people type.
//
// A scope is a value, never a second code path: the empty namespace is the
// cluster's.
package catalog
