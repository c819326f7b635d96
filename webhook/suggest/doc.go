// Package suggest words the commands that refusals, events and conditions offer:
// svcat's, and the equal one of kubectl. Each can be pasted into a shell as it is.
//
// Package suggest is pure: names in, text out.
package suggest
