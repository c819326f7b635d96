// Package folder is the data folder of one control plane: its lock, ports, kubeconfig and ready mark.
//
// Its invariant: a folder belongs to at most one living process, and every file in it that others read
// is replaced whole, never written in place.
package folder
