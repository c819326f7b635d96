// Package lifecycle is what becomes of an instance or binding at its broker, step by
// step: given what is recorded, Next says which call to make; given the reply,
// Thing.Replied says what to record. It is pure: no clock, no network, no randomness
// but what Facts bring.
//
// A record before each call says that the call may be under way (an intent), one after
// it says what came of it. Whoever finds an intent without an outcome does not know
// whether the broker acted, so it waits until no such call can be on its way any more,
// and sends the same request again: brokers answer a repeated request as the first.
//
//	             Make            201, 200                Change        200
//	(nothing) ─────────▶ Making ───────────▶ exists ─────────▶ Changing ────▶ exists
//	    ▲                  │  │ 202            │  ▲ 202: Poll      │ failed: as it was
//	    │                  │  └──▶ Poll ───────┘  └────────────────┘
//	    │ new ID           │ unknown outcome (Orphans), or the operation failed
//	    └───── Mitigate ◀──┘
//
//	deleted:  anything ── Remove ──▶ Removing ── 200, 410 ──▶ Release
//	                                    └─ 202: Poll; any error: again, until it is gone
//
// What is refused for good (400 and its like) rests until the spec changes. What was
// not made for this object (an ID that admission did not mint for it) is adopted: asked
// for again where nobody knows, never mitigated, and removed at deletion only if this
// object's request made it.
//
// Two things are remembered beyond an operation, because a broker may have acted on what
// it never answered: what was sent (InProgress), so that a spec that is taken back is
// brought to the broker too; and until when a request that was cut off may still make
// something (Deadline), so that "there is nothing" is not believed before.
package lifecycle
