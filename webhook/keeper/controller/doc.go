// Package controller holds what the keeper's controllers share: how a controller is
// declared and added to a manager (Spec), which changes of an object matter to them
// (Changes), how they register metrics, and how they log a failure without what other hooks
// may quote. They read the catalog by webhook/catalog, as admission does.
package controller
