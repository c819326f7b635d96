// Package defaults keeps the service types: it creates and deletes their objects,
// records the default plan of each, and writes the status that says what each resolves
// to. What to do next is decided by a function of what is stored (settle), one write at
// a time, and each write is void if the object changed since it was read. So another
// replica can resume after a crash.
package defaults
