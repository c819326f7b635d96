// Package pki makes and keeps the keys and certificates of one control plane.
//
// Its invariant: after Ensure, every certificate in the folder is signed by the CA beside it, belongs to the
// key beside it and is valid; what already was so is left as it is, so that kubeconfigs and tokens handed
// out before stay right.
package pki
