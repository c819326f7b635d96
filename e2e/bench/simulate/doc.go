// Package simulate measures svcat simulate on the snapshot of a large cluster, which it makes in memory:
// the catalog by the controller's own relist, and instances by admission.
package simulate
