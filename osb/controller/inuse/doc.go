// Package inuse prevents the deletion of user-defined classes and plans that
// are in use.
//
// A class or plan without a controlling owner reference is user-defined: no
// broker's catalog recreates it. While instances or bindings refer to it, it
// has the controller's finalizer. Once it is being deleted, no new instance is
// decided on it, existing ones work as before, and status says how many there
// are. The finalizer is removed with the last reference, even without a
// deletion: deleting what is not in use never needs a running controller.
//
// References are read from the cache, and live before a deletion is allowed to
// finish.
package inuse
