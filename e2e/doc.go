// Package e2e plays the stories of users and operators on the real parts:
// etcd and kube-apiserver, the manifests as shipped, and the built webhook.
//
// Nothing is simulated and nothing is skipped: what a scenario shows is what a
// cluster does. One stack with two webhook processes serves all scenarios that
// need no flags of their own; they share its catalog, so each makes names of
// its own (newWorld).
package e2e
