package resolve

// beats says that p goes before q: by weight, and between equals by rendezvous hash, which spreads requests evenly
// over the plans and, when a plan comes or goes, moves only those that it wins or held.
func beats(seed string, p, q *PlanEntry) bool {
	if p.Weight != q.Weight {
		return p.Weight > q.Weight
	}
	sp, sq := score(seed, p), score(seed, q)
	if sp != sq {
		return sp > sq
	}
	return compareRefs(p.Ref, q.Ref) < 0
}

// score is the weight of a plan in the eyes of one seed: FNV-1a over both, then mixed, because FNV alone leaves the
// high bits of short inputs alike. It must never change: the same request would get another plan on its retry from a
// newer replica.
func score(seed string, p *PlanEntry) uint64 {
	const offset, prime = 14695981039346656037, 1099511628211
	h := uint64(offset)
	// A separator that no name or UID contains keeps ("ab", "c") and ("a", "bc") apart.
	for _, part := range [...]string{seed, "\x00", p.UID} {
		for i := range len(part) {
			h = (h ^ uint64(part[i])) * prime
		}
	}
	h = (h ^ h>>33) * 0xff51afd7ed558ccd
	h = (h ^ h>>33) * 0xc4ceb9fe1a85ec53
	return h ^ h>>33
}
