// Package e2e has the scenarios: tests that run on the real parts, which are etcd and
// kube-apiserver, the manifests as shipped and the built binaries. Each folder is about one
// subject, and its doc comment says what it proves. Tests of a folder share one stack (see
// suite.Main), so each makes names of its own (see env.Env).
//
// Webhook: admission (the rules of each kind), instances, bindings, defaults, freshness,
// races, policies, quotas, oldclients, deletion.
//
// Controller: osb, claims, sharing, rotation, controllers, endpoints.
//
// Both, and what people use: observe, install, moving, charts, certs, ha, svcat, ui.
//
// Not scenarios: stack and env start and use a control plane, offering and golden help
// tests of plans and of what is printed, retired has a cluster hold what the retired catalog
// left, node stands in for a kubelet, controlplane and certmanager are modules that are built,
// bench measures, and explore visits every state of models of three protocols.
package e2e
