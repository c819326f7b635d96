// Package quota assigns the slots of policies with limits to instances and
// bindings. It is pure: the granted slots and the existing objects go in, and
// the slots to grant come out. It makes no call and reads no clock.
//
// Nothing is created at a broker without a slot of each policy that limits it.
// This holds although no client sees a whole cluster at one moment, because
// keeper and controller each do three things in a fixed order:
//
//	the keeper          reads the policies  →  lists the objects  →  grants, if the
//	                                           policy is still as it was read
//	the controller      stores its intent   →  reads the policies →  calls the broker,
//	                                           if the slots are there
//
// An object without a slot when the policies are read, after its intent is
// stored, causes no call. An object that loses its slot later has stored its
// intent before, so the next list shows it. Therefore a slot revoked from a
// live object is granted to another only after the objects were listed once
// more, and an object that may exist at a broker counts, with or without a
// slot. A new policy is one whose slots are all free: the same argument holds
// for it.
package quota
