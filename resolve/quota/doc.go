// Package quota is pure: it says who gets the slots of policies with limits. What
// policies granted and what objects there are goes in, and what to grant comes out;
// it makes no call and reads no clock.
//
// Nobody makes anything at a broker without a slot of each policy that limits it.
// That holds although nobody can see all of a cluster at one moment, because of
// the order in which three things are done:
//
//	the keeper          reads the policies  →  lists the objects  →  grants, if the
//	                                           policy is still as it was read
//	the controller      stores its intent   →  reads the policies →  calls the broker,
//	                                           if the slots are there
//
// Whoever has no slot when the policies are read after the intent makes no call.
// Whoever has one, and loses it later, has stored the intent before: the next list
// shows it. So a slot that is taken from an object that lives is not granted to
// another in the same step, but only after the objects were listed once more, and
// what may be at a broker counts, with or without a slot. A policy that is new is
// one whose slots are all free: the same argument holds for it.
package quota
