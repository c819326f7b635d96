// Package externalid is about spec.externalID of instances and bindings: it mints one for a new
// object, and validates one that a user chooses, which takes over what has it at the broker.
package externalid
