// Package decision has what a decision about an object takes: the resolver, which chooses a plan
// by catalog and policies, and the tools that the admission of all kinds shares. It words what
// could not be resolved.
package decision
