// Package moving is the file in which svcat export carries objects to svcat import: its
// header and documents, its encryption, which objects can be moved at all, and the report
// of both commands. What a file says is checked when it is read: it may have been changed,
// or written by someone else. No error has a parameter or a value of a Secret.
package moving
