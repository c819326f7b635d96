// Package bindings has the commands that change bindings: bind, rotate and unbind.
package bindings
