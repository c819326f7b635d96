package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/defaultplan/defaultplan/osb/osbtest"
)

// A fault is how a broker's next calls of a verb go wrong. The zero fault ends all.
type fault struct {
	Verb osbtest.Verb `json:"verb"`
	// Status is what is answered.
	Status int `json:"status"`
	// Times is how many calls go wrong.
	Times int `json:"times"`
	// Acting has the broker do what it was asked for all the same.
	Acting bool `json:"acting"`
}

// faultyVerbs are those that can go wrong by a fault.
var faultyVerbs = []osbtest.Verb{
	osbtest.GetCatalog, osbtest.Provision, osbtest.Update, osbtest.Deprovision, osbtest.Bind, osbtest.Unbind,
}

func newFault() *cobra.Command {
	var dir string
	var f fault
	cmd := &cobra.Command{
		Use:   "fault BROKER [VERB STATUS]",
		Short: "Have the next calls to a broker go wrong",
		Long: "The next calls of VERB are answered with STATUS, such as: playground fault inhouse provision 500\n" +
			"VERB is catalog, provision, update, deprovision, bind or unbind. Without VERB and STATUS the broker works again.",
		Args: cobra.RangeArgs(1, 3),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.parse(args[1:]); err != nil {
				return err
			}
			if err := f.send(cmd.Context(), dir, args[0]); err != nil {
				return err
			}
			sayf(cmd.OutOrStdout(), "%s\n", f.said(args[0]))
			return nil
		},
	}
	bindDir(cmd, &dir)
	cmd.Flags().IntVar(&f.Times, "times", 1, "how many calls go wrong")
	cmd.Flags().BoolVar(&f.Acting, "acting", false, "the broker does what it was asked for all the same")
	return cmd
}

// parse reads the arguments behind the broker's name.
func (f *fault) parse(args []string) error {
	if len(args) == 0 {
		*f = fault{}
		return nil
	}
	f.Verb = osbtest.Verb(args[0])
	if !slices.Contains(faultyVerbs, f.Verb) {
		return fmt.Errorf("cannot make %q go wrong: allowed are %v", args[0], faultyVerbs)
	}
	if len(args) == 1 {
		return fmt.Errorf("cannot make %s go wrong: say the status to answer, such as 500", f.Verb)
	}
	var err error
	if f.Status, err = strconv.Atoi(args[1]); err != nil || f.Status < http.StatusBadRequest || f.Status > 599 || f.Times < 1 {
		return fmt.Errorf("cannot answer status %q %d times: allowed are 400 to 599, once or more", args[1], f.Times)
	}
	return nil
}

func (f *fault) send(ctx context.Context, dir, broker string) error {
	e, err := readEntry(dir, broker)
	if err != nil {
		return err
	}
	body, err := json.Marshal(f)
	if err != nil {
		return fmt.Errorf("cannot encode a fault: %w", err)
	}
	_, err = e.ask(ctx, http.MethodPost, faultsPath, string(body))
	return err
}

func (f *fault) said(broker string) string {
	if f.Verb == "" {
		return broker + " works again"
	}
	calls, acting := "call", ""
	if f.Times > 1 {
		calls = fmt.Sprintf("%d calls", f.Times)
	}
	if f.Acting {
		acting = ", and does what it is asked for all the same"
	}
	return fmt.Sprintf("%s answers %d to the next %s to %s%s", broker, f.Status, calls, f.Verb, acting)
}

// befall has a broker go wrong so.
func (f *fault) befall(broker *osbtest.Broker) {
	if f.Verb == "" {
		broker.Sync()
		return
	}
	one := osbtest.Status(f.Status, `{"description": "out of order, as the playground was told"}`)
	if f.Acting {
		one = one.Acting()
	}
	broker.Next(f.Verb, slices.Repeat([]osbtest.Fault{one}, f.Times)...)
}
