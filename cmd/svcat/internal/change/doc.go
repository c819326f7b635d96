// Package change has the commands by which an operator changes classes and plans:
// set, with the atomic switch of a type's default, and create.
//
// A command that is cut off leaves nothing half done that counts. set writes its
// fields in one write. Of a switch the record is the one write that decides, and the
// keeper finishes what comes after it. create makes the plans of a class before the
// class: none of them can be chosen until that is there, and they are removed again
// if it does not come to it.
package change
