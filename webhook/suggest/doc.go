// Package suggest builds the commands that denials, events and conditions
// offer: that of svcat, and the equivalent one of kubectl. Each can be pasted
// into a shell.
//
// Package suggest is pure: names in, text out.
package suggest
