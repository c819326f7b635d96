// Package importing has the command svcat import: it makes the objects of a file of svcat export
// live in the current cluster without a call that changes anything at a broker. Brokers come
// first, then instances and bindings, adopted by the IDs that they have at their brokers. What
// it has done is in the cluster and nowhere else: run again, it goes on where it was.
package importing
