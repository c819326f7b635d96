// Package osb_test has the scenarios of the controller: the built binaries and the
// shipped manifests on a real API server, and scripted brokers on loopback.
package osb_test
