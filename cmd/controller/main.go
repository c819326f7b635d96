// The controller command makes the calls to service brokers: it reads their catalogs,
// and provisions, binds and removes what admission decided.
package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/spf13/pflag"
	ctrl "sigs.k8s.io/controller-runtime"
)

func main() {
	if err := start(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "controller:", err)
		os.Exit(1)
	}
}

// start parses the arguments and runs until a signal ends it.
func start(args []string) error {
	o := newOptions()
	flags := pflag.NewFlagSet("controller", pflag.ContinueOnError)
	o.bind(flags)
	err := flags.Parse(args)
	if errors.Is(err, pflag.ErrHelp) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("%w; see --help", err)
	}
	if flags.NArg() > 0 {
		return fmt.Errorf("%q is no flag; see --help", flags.Arg(0))
	}
	if err := o.validate(); err != nil {
		return err
	}
	return run(ctrl.SetupSignalHandler(), o)
}
