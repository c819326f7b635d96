// Package fairness_test has one namespace's brokers hang, and sees how another tenant
// fares meanwhile: the shipped webhook and controller, with brokers whose books say which
// calls are under way.
package fairness_test
