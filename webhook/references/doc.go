// Package references is about the class and plan that a spec is decided on: it reads and writes
// their references, and words how they disagree with the rest of spec.
package references
