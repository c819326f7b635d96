// Package quotas_test is how many instances and bindings a policy lets a namespace have:
// the shipped webhook, two keepers and the controller, with a scripted broker whose books
// say whether there were ever too many.
package quotas_test
