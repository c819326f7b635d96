// Package about has the commands about svcat itself: they print its version, install it
// as a kubectl plugin, and write the reference page of its commands for docs.
package about
