// Package simulate_test proves that what svcat simulate says of a change is what happens once
// the change is made: on a real control plane, with the webhook, the keeper, the controller and
// brokers, for random catalogs, policies, instances and changes.
package simulate_test
