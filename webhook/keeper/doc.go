// Package keeper runs four leader-elected controllers that support admission.
// Admission has no side effects and sees only the object that it is asked about,
// so what needs writes, or a view of the whole cluster, is done here.
//
// The requeuer has undecided objects admitted again. An instance that finds no plan
// is admitted undecided and waits, and so does a binding whose instance does not
// exist yet. An index finds them by what they wait for. When that changes, the
// requeuer sends each an empty merge patch (a touch), at which the admission hooks
// run and decide.
//
//	event of a class, plan, type, policy,
//	namespace, or a binding's instance   ──▶ keys ──index──▶ waiting objects ──▶ queue ──▶ touch
//	event of a waiting object ─────────────────────────────────────────────────────▲
//
// The requeuer never decides. It writes nothing but empty patches, so a touch that
// was not needed costs one request and changes nothing. Only a missing touch is a
// fault, so in doubt, as in every race, the requeuer touches.
//
// The default recorder creates and deletes service type objects, and records the
// default plan of each type.
//
// The policy status controller writes the status of policies: what each policy
// selects now. Only people read it, so the controller runs at most once a second.
//
// The slot allocator grants the slots of policies with limits. It decides by what the
// API server has, never by the cache alone. A grant fails if the policy was written
// since it was read, so two keepers at a time never grant too many: see resolve/quota.
// While no keeper runs, what is limited is not provisioned.
//
// The manager runs the controllers while it holds the Lease. A keeper that loses the
// Lease ends its process, and the kubelet starts it again; other processes serve the
// hooks. The election saves requests. It does not protect data: every write is safe
// without it.
package keeper
