// Package catalog reads the class and plan that an instance or binding is of. If they are gone,
// what is recorded of the plan at the broker stands in for them.
package catalog
