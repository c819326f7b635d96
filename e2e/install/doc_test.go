// Package install_test installs defaultplan as its users do, on a cluster whose pods are
// processes: by Helm 4 and Helm 3, by kubectl, and over the release before.
//
// Its invariant: nothing here writes what a user does not write. What is installed is
// rendered from the chart and the manifests as shipped, Kubernetes' own controllers make
// the pods, and the pods have no more rights than their ServiceAccounts.
package install_test
