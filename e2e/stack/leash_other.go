//go:build !linux

package stack

import "syscall"

// leash does nothing here: only Linux can end a process with the one that
// started it.
func leash(*syscall.SysProcAttr) {}
