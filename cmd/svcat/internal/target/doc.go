// Package target finds the instances and bindings that a command changes.
package target
