// Package check has the command that looks whether the installation is whole: check.
//
// A finding is failed where the machinery does not work, and a warning where it
// works and a person should look. What one may not read is a warning that says so.
// Each look into the cluster is split from the judgement of what it saw, which is a
// function of values.
package check
