// Package lifecycle decides the next call to the broker for an instance or binding.
// Given the stored record, Next returns the call to make; given the result of the call,
// Resource.HandleResult returns what to record. The package is pure: the clock, random
// numbers and everything else from outside are passed in as Facts.
//
// The record that is written before a call says that the call may be under way (an
// intent); the record that is written after it says how it ended. An intent without an
// outcome does not tell whether the broker acted. The next reconcile then waits until no
// such call can still be on its way, and repeats the request: a broker answers a repeated
// request as it answered the first.
//
//	          Provision              201, 200            Update        200
//	(nothing) ─────────▶ Provisioning ─────▶ exists ─────────▶ Updating ────▶ exists
//	    ▲                  │  │ 202            │  ▲ 202: Poll      │ failed: as it was
//	    │                  │  └──▶ Poll ───────┘  └────────────────┘
//	    │ new ID           │ unknown outcome (Orphans), or the operation failed
//	    └ MitigateOrphan ◀─┘
//
//	deleted:  anything ── Deprovision ──▶ Deprovisioning ── 200, 410 ──▶ Release
//	                                         └─ 202: Poll; any error: again, until it is gone
//
// A request that the broker rejects for good (such as 400) is not repeated until the
// spec changes. A resource with an ID that admission did not mint for this object is
// adopted: if the outcome of a request is unknown, the request is repeated; there is no
// orphan mitigation; and deletion removes it only if a request of this object made it.
//
// The record keeps two facts beyond the end of an operation, because a broker may have
// acted on a request that it never answered: the request (InProgress), so that a spec that
// is changed back is sent to the broker too; and the time until which a request that was
// cut off may still make something (Deadline), so that a "not found" before then does not
// count.
package lifecycle
