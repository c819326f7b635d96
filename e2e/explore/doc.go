// Package explore visits every state of a protocol, breadth first. A Model says in which
// state the protocol starts, what can happen in a state, and what must hold. The models of the
// three protocols call the production code for each decision; docs/protocols.md describes them.
//
// A model is bounded by its states: users, crashes and faults are counted in them, so that
// there is an end to what can happen. What programs do by themselves is never bounded. An
// exploration that returns no violation has therefore seen every order of the steps.
package explore
