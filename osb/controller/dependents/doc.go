// Package dependents finds the bindings that keep an instance from being deleted, and deletes
// those that are to go with it.
package dependents
