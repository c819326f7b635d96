// Package binding admits ServiceBindings, those that get an instance of their own included.
//
// A binding's plan is that of its instance. The mutating phase merges the defaults for bindings
// and settles the binding; the validating phase holds the result against instance, policies,
// limits, schemas and the rights of its writer.
package binding
