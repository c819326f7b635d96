// The controller command calls service brokers: it reads their catalogs, and
// provisions, updates, binds and removes what admission decided.
package main

import "github.com/defaultplan/defaultplan/cmd/internal/daemon"

func main() { daemon.Main("controller", newOptions()) }
