// Command controlplane is a Kubernetes control plane in one process: etcd, the whole kube-apiserver and the
// controllers that the tests and the playground need, and nothing that runs a container. With -workloads, also
// those that make pods of Deployments and Jobs, and endpoints of pods: e2e/node runs the pods.
//
// Its invariant: everything it keeps is in one folder that it has to itself, it listens on the loopback only,
// and it says "ready" once, when the API server answers and every controller has seen what is stored.
//
// etcd is reached over plain HTTP on the loopback, so that fault tests can stand between it and the API
// server: every user who may connect to local ports owns this cluster. It is for tests and demos.
package main
