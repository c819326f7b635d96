// Package requeue has undecided instances and bindings admitted again when what they
// wait for changes. It never decides: it writes nothing but empty merge patches, at
// which the admission hooks run. A touch that was not needed changes nothing.
package requeue
