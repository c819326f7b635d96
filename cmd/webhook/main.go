// The webhook command serves admission for the service catalog, and runs the
// keeper, which requeues objects that admission could not decide yet.
package main

import "github.com/defaultplan/defaultplan/cmd/internal/daemon"

func main() { daemon.Main("webhook", newOptions()) }
