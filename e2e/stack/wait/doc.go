// Package wait waits for what comes true on a machine that may be busy: as long as there is
// progress, and by timeouts that are scaled to how slow the machine is.
package wait
