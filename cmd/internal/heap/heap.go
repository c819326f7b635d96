// Package heap sets how often the garbage collector runs by what is alive.
package heap

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

// Grow lets the heap grow by as many percent as grows returns for the bytes that are alive, now
// and after each collection. An operator's GOGC takes precedence; GOMEMLIMIT is respected in both
// cases.
func Grow(grows func(live uint64) int) {
	if os.Getenv("GOGC") != "" {
		return
	}
	debug.SetGCPercent(grows(0))
	collected(grows)
}

// collected adjusts the collector's pace, and schedules itself after the next
// collection by a finalizer of an unreferenced object.
func collected(grows func(live uint64) int) {
	sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}, {Name: "/gc/gogc:percent"}}
	metrics.Read(sample)
	wanted, now := grows(sample[0].Value.Uint64()), int(sample[1].Value.Uint64()) //nolint:gosec // a percentage
	// Setting it stops the world for a moment, so small changes are skipped.
	if wanted < now*9/10 || wanted > now*11/10 {
		debug.SetGCPercent(wanted)
	}
	runtime.SetFinalizer(new([16]byte), func(*[16]byte) { collected(grows) })
}
