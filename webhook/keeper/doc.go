// Package keeper does beside admission what admission cannot, because it has no
// side effects and sees only what it is asked about. Whoever keeps has four
// duties.
//
// The toucher wakes what was left undecided. An instance that found no plan is
// admitted undecided and waits, and so does a binding whose instance is yet to
// come. They are indexed by what they wait for, and touched when that changes: an
// empty merge patch, at which the admission hooks run and decide.
//
//	event of a class, plan, type, policy,
//	namespace, or a binding's instance   ──▶ keys ──index──▶ who waits ──▶ queue ──▶ touch
//	event of one who waits ───────────────────────────────────────────────────▲
//
// Its invariant: the toucher never decides. It writes nothing but empty patches,
// so a touch too many costs a request and changes nothing, and only a touch too
// few is a fault. Every race is settled that way: in doubt it touches.
//
// The recorder keeps the service types: which there are, and which plan each
// records as its default.
//
// The reporter keeps the status of policies: what each selects now. Nothing
// depends on it but people, so it never does more than one round a second.
//
// The slotter grants the slots of policies with limits, by what the API server has and
// never by the cache alone. Each grant stands only if nobody wrote the policy since it
// was read, so that two keepers at a time never grant too many: see resolve/quota. What
// is limited is not provisioned while nobody keeps.
//
// Each duty is a controller of controller-runtime, which the manager runs while it holds the
// Lease. Who loses it ends its process, to be started again; the hooks are served by other
// processes. The election saves requests, it does not guard data.
package keeper
