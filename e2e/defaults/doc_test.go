// Package defaults_test proves the table in docs/defaults.md: which plan is the default of
// a type after annotations, records, catalogs and types change, who may change it, what a
// relist may not change, and what people see of it.
package defaults_test
