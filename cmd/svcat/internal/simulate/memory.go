package simulate

const (
	// heapRoom is up to how many bytes the heap grows before garbage is collected, in steps while it is
	// small. Ten thousand plans and instances stay within 300 MB so, with what is not on the heap.
	heapRoom = 200 << 20
	// leastGrowth is by how many percent it grows once two thirds of heapRoom are alive. What a state has
	// stays until the end: with the usual 100, as much would be taken again for garbage.
	leastGrowth = 50
)

// heapGrowth is by how many percent the heap may grow: up to heapRoom, or by leastGrowth. It sets no
// limit: a relist that rewrites all plans would come close to any, and then mostly collect.
func heapGrowth(live uint64) int {
	const least = heapRoom / 3                                      // that a heap which is read into does not outgrow the room at once
	return max(leastGrowth, int(heapRoom*100/max(live, least))-100) //nolint:gosec // at most 200
}
