// Package watches says which instances and bindings are reconciled when another object changes:
// a class or plan, an instance or binding, a policy, a namespace.
package watches
