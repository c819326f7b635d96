// Package inuse keeps user-defined classes and plans that are in use from being deleted.
//
// A class or plan without a controlling owner reference is user-defined: no broker's catalog makes it again. While instances
// or bindings refer to it, it has the controller's finalizer. Once it is being deleted, nothing new is decided on it, what
// refers to it goes on being served, and status says how much that is. The finalizer is taken off with the last user, also
// where nothing is being deleted: what is not in use never needs a controller to be deleted.
//
// Whether it is in use is read from the cache. Before a deletion is let happen the API server is asked.
package inuse
