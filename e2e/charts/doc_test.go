// Package charts_test has the scenarios of chart authors and of GitOps: the library
// chart and the examples of deploy/charts, installed by the real helm on a real API
// server with brokers on loopback, and what kstatus, Argo CD and Flux make of the
// objects.
package charts_test
