// Package bindings_test proves how a binding is decided from its instance's plan: what it
// takes from the plan, that it may come before its instance, and that it stays as it was
// decided.
package bindings_test
