// Package parameters decodes, compares and merges the parameters of instances and bindings, and
// records which defaults were applied to them.
package parameters
