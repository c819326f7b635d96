// Package dedicated creates the instances that bindings have for themselves, says in the status
// of a binding how its own is, and deletes it with the binding.
package dedicated
