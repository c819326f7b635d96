// Package instance admits ServiceInstances.
//
// The mutating phase completes an instance: it picks class and plan, merges their default
// parameters, and keeps on an update what the write leaves out. The validating phase checks the
// final object and never chooses again.
package instance
