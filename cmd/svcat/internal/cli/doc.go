// Package cli is what all commands of svcat share: where they write, how they
// reach the cluster, how they fail, what they may write and how they wait.
package cli
