// Package restore lists the fields of a spec that an update keeps when it leaves them out, and
// patches those that differ.
package restore
