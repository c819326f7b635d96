// Package schemacache compiles plans' JSON schemas and keeps those that were used last. A
// schema is hostile text: compiling one may take a second, and one may keep some MiB. So few
// are compiled at once, each once at a time, no caller waits for longer than its request
// lasts, and what is kept is weighed. It is not pure, as merge is: its callers wait. The
// webhook and the controller have one Cache each.
package schemacache
