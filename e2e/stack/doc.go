// Package stack runs the whole of defaultplan on one machine: a control plane,
// the webhook, and the manifests as shipped.
//
// Every part is the built binary with its real flags, in a process of its own;
// the webhook runs with the rights of deploy/rbac and no others. What differs
// from a cluster is one thing: the API server reaches the hooks by
// clientConfig.url on the loopback, not by a Service. Tests and the playground
// share this package, so what the one proves the other shows.
//
// Everything that a stack writes is under Options.Dir. The packages below start its
// processes (process, loopback), apply the manifests (manifest), wait for progress
// (wait), stand before the API server (apiproxy), and run the tests of a package
// (suite).
package stack
