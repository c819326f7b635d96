package process

import (
	"syscall"
)

// endWithUs has the kernel kill the process when we are gone, however that came: a
// test that runs into its timeout has no chance to clean up. It is no gentler
// signal, because the kernel may send it once for each of our threads, and a
// second one kills anyway.
func endWithUs(attributes *syscall.SysProcAttr) { attributes.Pdeathsig = syscall.SIGKILL }
