// Package process starts the processes of a stack, in the background and on the record: each has
// a log, and a record by which another process finds and ends it. A process is only ever ended by
// its id, and only while the id is still that very process.
package process
