// Package snapshot writes the state of the catalog into one file, and reads it back: the command
// snapshot, and what simulate decides by.
//
// A file is JSON lines: a header, then one object a line. It never has what a Secret holds, and the
// values of parameters only if they are asked for.
package snapshot
