// Package rotation_test is for credentials that are replaced: with a real API server, the
// webhook, the controller and a scripted broker.
package rotation_test
