// Package keeper does beside admission what admission cannot: it wakes what was
// left undecided.
//
// An instance that found no plan is admitted undecided and waits. The keeper
// indexes such instances by what they wait for, and when that changes it touches
// them: an empty merge patch, at which the admission hooks run and decide.
//
//	event of a plan, class or type ──▶ keys ──index──▶ waiting instances ──▶ queue ──▶ touch
//	event of a waiting instance ─────────────────────────────────────────────▲
//
// Its invariant: the keeper never decides. It writes nothing but empty patches,
// so a touch too many costs a request and changes nothing, and only a touch too
// few is a fault. Every race is settled that way: in doubt it touches.
//
// Replicas elect one keeper by a Lease. Whoever loses it stops all work and
// campaigns again; the process goes on serving. The election saves requests, it
// does not guard data.
package keeper
