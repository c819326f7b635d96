// Package claims_test has the scenarios of bindings that get instances of their own, on a
// control plane, the webhook, the controller and a scripted broker as they are shipped.
package claims_test
