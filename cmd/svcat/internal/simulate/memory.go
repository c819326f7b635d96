package simulate

import "runtime/debug"

// heapGrowth is by how many percent the heap grows before garbage is collected. What a state has stays
// until the end: with the usual 100, as much would be taken again for garbage.
const heapGrowth = 50

// saveMemory takes less memory for somewhat more time, for a process that does one simulation. It sets
// no limit: a relist that rewrites all plans would come close to any, and then mostly collect.
func saveMemory() { debug.SetGCPercent(heapGrowth) }
