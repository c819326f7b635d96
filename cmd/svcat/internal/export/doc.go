// Package export has the command svcat export: it writes instances and bindings with what they
// need into a file, from any cluster that serves the API, and only reads. With --release it lets
// the objects of such a file go, without their broker, once another cluster has them Ready.
package export
