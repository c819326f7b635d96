// Package cli has what all commands of svcat share: output, the connection to
// the cluster, errors, the flags of writes, and waiting.
package cli
