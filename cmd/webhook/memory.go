package main

// heapRoom is how much may be allocated between two garbage collections, in
// bytes, even if the live heap is much smaller. Go's own rule lets the heap
// double; with the few megabytes of a small catalog it would collect after every
// hundred reviews, and that would be a third of the processor time.
const heapRoom = 64 << 20

// goPercent is Go's own rule: what is alive may double.
const goPercent = 100

// heapGrowth is by how many percent the heap may grow: it gives heapRoom above
// what is alive, or Go's own rule if that gives more.
func heapGrowth(live uint64) int {
	const least = 1 << 20                                           // what any process has alive
	return int(max(goPercent, goPercent*heapRoom/max(live, least))) //nolint:gosec // at most 6400
}
