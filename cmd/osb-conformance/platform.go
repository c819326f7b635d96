package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/defaultplan/defaultplan/osb/conformance/observer"
	"github.com/defaultplan/defaultplan/osb/osbtest"
)

// platformOptions are the flags of osb-conformance platform.
type platformOptions struct {
	output
	credentials

	listen, prefix, scriptFile, catalogFile, until string
	crashes                                        bool
}

func newPlatform() *cobra.Command {
	o := &platformOptions{}
	cmd := &cobra.Command{
		Use:   "platform --listen ADDRESS",
		Short: "Judge a platform by being a broker for it",
		Long: "Judge a platform by being a broker for it. Register the broker with the platform, and have the platform\n" +
			"provision, update, bind and remove instances. The verdict is printed at --until, or at an interrupt.\n\n" +
			"The file of --script is a JSON list of steps, such as\n" +
			`  [{"verb": "provision", "fault": "status", "status": 500, "body": "{}", "times": 2}, {"verb": "bind", "fault": "cut-after"}]`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return o.run(cmd) },
	}
	flags := cmd.Flags()
	flags.StringVar(&o.listen, "listen", "127.0.0.1:8080", "address to listen at")
	flags.StringVar(&o.prefix, "prefix", "", "path below which the broker is, such as /broker")
	flags.StringVar(&o.scriptFile, "script", "", "file with the faults of the broker")
	flags.StringVar(&o.catalogFile, "catalog", "", "file with what the broker offers; by default a catalog with a plan for each rule")
	flags.StringVar(&o.until, "until", "", "when to end: a number of calls, as 200, or a duration, as 10m; by default an interrupt")
	flags.BoolVar(&o.crashes, "crashes", false, "the platform is killed meanwhile: what it may do again after that breaks no rule")
	o.credentials.bind(cmd)
	o.output.bind(cmd)
	return cmd
}

// run is a broker until the end, and prints what it saw.
func (o *platformOptions) run(cmd *cobra.Command) error {
	if err := errors.Join(o.check(), o.complete()); err != nil {
		return err
	}
	calls, longest, err := o.end()
	if err != nil {
		return err
	}
	broker, err := o.broker()
	if err != nil {
		return err
	}
	if err := broker.Listen(cmd.Context(), o.listen); err != nil {
		return err
	}
	defer broker.Close()
	cmd.PrintErrln("the broker is at", broker.URL)
	ctx, cancel := context.WithCancel(cmd.Context())
	if longest > 0 {
		ctx, cancel = context.WithTimeout(cmd.Context(), longest)
	}
	defer cancel()
	await(ctx, broker, calls)
	return o.report(cmd.OutOrStdout(), observer.Report(broker))
}

// end reads --until: a number of calls, or a duration, or neither.
func (o *platformOptions) end() (calls int, longest time.Duration, err error) {
	if o.until == "" {
		return 0, 0, nil
	}
	if calls, err := strconv.Atoi(o.until); err == nil && calls > 0 {
		return calls, 0, nil
	}
	if longest, err := time.ParseDuration(o.until); err == nil && longest > 0 {
		return 0, longest, nil
	}
	return 0, 0, fmt.Errorf("--until is %q: allowed are a number of calls, as 200, and a duration, as 10m", o.until)
}

// broker makes the broker, and gives it its script.
func (o *platformOptions) broker() (*osbtest.Broker, error) {
	options := observer.Options()
	options.Username, options.Password, options.Token = o.username, o.password, o.token
	options.Prefix, options.Crashes = o.prefix, o.crashes
	broker := osbtest.New(options)
	if o.catalogFile != "" {
		text, err := os.ReadFile(o.catalogFile)
		if err != nil {
			return nil, fmt.Errorf("cannot read --catalog: %w", err)
		}
		if err := broker.SetCatalog(text); err != nil {
			return nil, err
		}
	}
	if o.scriptFile == "" {
		return broker, nil
	}
	file, err := os.Open(o.scriptFile)
	if err != nil {
		return nil, fmt.Errorf("cannot read --script: %w", err)
	}
	defer func() { _ = file.Close() }() // it was only read
	script, err := observer.ReadScript(file)
	if err != nil {
		return nil, err
	}
	script.Play(broker)
	return broker, nil
}

// glance is how often the calls are counted.
const glance = 100 * time.Millisecond

// await waits until the context ends, or so many calls have been answered; 0: until the former.
func await(ctx context.Context, broker *osbtest.Broker, calls int) {
	answered := func(call osbtest.Call) bool { return !call.Ended.IsZero() }
	ticker := time.NewTicker(glance)
	defer ticker.Stop()
	for calls == 0 || len(broker.Calls(answered)) < calls {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}
