// Command kubectl is Kubernetes' own command line, of the same release as the control plane beside it,
// so that tests and the demo see exactly what a person sees.
package main

import (
	"k8s.io/component-base/cli"
	"k8s.io/kubectl/pkg/cmd"
	"k8s.io/kubectl/pkg/cmd/util"
)

func main() {
	if err := cli.RunNoErrOutput(cmd.NewDefaultKubectlCommand()); err != nil {
		// CheckErr prints the error as kubectl does and exits with the code that belongs to it.
		util.CheckErr(err)
	}
}
