// Package restore keeps the fields of a spec that an update leaves out, and patches those that
// differ. The packages instance and binding list which fields they are.
package restore
