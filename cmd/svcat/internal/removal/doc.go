// Package removal deletes instances and bindings: at their broker too, or with --abandon
// without asking it.
package removal
