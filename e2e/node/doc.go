// Package node runs the pods of a test's cluster as processes of this machine, as a
// kubelet and kube-proxy would run them as containers of a node.
//
// Its invariant: what a pod's manifest says is what runs. A container is the binary
// that its command names, with its own arguments and environment; appended is only
// what one machine shared by all pods demands: free loopback ports in place of the
// named ones, folders in place of mounted volumes, and a kubeconfig with the token of
// the pod's ServiceAccount in place of the address in the cluster. Probes, restarts,
// preStop, the grace period and the pod's status are the manifest's; a Service is
// reached by its cluster address, through the API server's own egress proxy, and leads
// to the endpoints that Kubernetes' controller made.
//
// What it is not: no namespace, cgroup or user of Linux; no init container; no exec
// probe; no logs or exec by kubectl.
package node
