package main

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

// heapRoom is how much may be allocated between two garbage collections, in
// bytes, even if the live heap is much smaller. Go's own rule lets the heap
// double; with the few megabytes of a small catalog it would collect after every
// hundred reviews, and that would be a third of the processor time.
const heapRoom = 64 << 20

// goPercent is Go's own rule: what is alive may double.
const goPercent = 100

// giveHeapRoom keeps the garbage collector at heapRoom, or at Go's own rule if
// that gives more, as the live heap changes. An operator's GOGC takes
// precedence; GOMEMLIMIT is respected in both cases.
func giveHeapRoom() {
	if os.Getenv("GOGC") != "" {
		return
	}
	debug.SetGCPercent(percentFor(0))
	collected()
}

// collected adjusts the collector's pace, and schedules itself after the next
// collection by a finalizer of an unreferenced object.
func collected() {
	sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}, {Name: "/gc/gogc:percent"}}
	metrics.Read(sample)
	wanted, now := percentFor(sample[0].Value.Uint64()), int(sample[1].Value.Uint64()) //nolint:gosec // a percentage
	// Setting it stops the world for a moment, so small changes are skipped.
	if wanted < now*9/10 || wanted > now*11/10 {
		debug.SetGCPercent(wanted)
	}
	runtime.SetFinalizer(new([16]byte), func(*[16]byte) { collected() })
}

// percentFor is the GOGC that gives heapRoom above the live heap.
func percentFor(live uint64) int {
	const least = 1 << 20                                           // what any process has alive
	return int(max(goPercent, goPercent*heapRoom/max(live, least))) //nolint:gosec // at most 6400
}
