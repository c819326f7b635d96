// Package self has the commands about svcat itself: its version, how it becomes a
// plugin of kubectl, and the page in docs that lists its commands.
package self
