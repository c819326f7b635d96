// Package policies says what keeps an instance or a binding from its broker by policy: a rule
// that denies it, or a limit that grants it no slot. It reads policies, and writes nothing.
package policies
