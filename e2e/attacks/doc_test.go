// Package attacks_test is what a namespace's admin tries against what the cluster's
// operator decided: the shipped webhook and controller, with brokers whose books say
// what was provisioned.
package attacks_test
