// Package svcat_test has the scenarios of svcat: the built binary against a real
// API server, with the webhook, the controller and brokers.
package svcat_test
