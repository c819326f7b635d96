// Package world runs what a cluster runs over objects in memory: admission, the keeper's
// controllers and the relist of a catalog, all of them the production code. Each change is
// applied and followed by all that the controllers do because of it, in virtual time, until
// nothing is left to do.
package world
