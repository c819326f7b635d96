package main

import (
	"bytes"
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/defaultplan/defaultplan/osb/conformance"
	"github.com/defaultplan/defaultplan/osb/conformance/examiner"
)

// brokerOptions are the flags of osb-conformance broker.
type brokerOptions struct {
	output
	credentials
	examiner.Options

	parametersFile, caFile string
	insecure               bool
	callTimeout            time.Duration
}

func newBroker() *cobra.Command {
	o := &brokerOptions{}
	cmd := &cobra.Command{
		Use:   "broker --url URL",
		Short: "Judge a broker by calling it",
		Long: "Judge a broker by calling it: the catalog, and instances of one plan, which are provisioned, updated,\n" +
			"bound and removed. Whatever was provisioned is removed in the end, also after a failure or an interrupt.\n\n" +
			"The file of --parameters is a JSON object with the objects provision, update and bind, each of which may be\n" +
			"left out.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return o.run(cmd) },
	}
	flags := cmd.Flags()
	flags.StringVar(&o.URL, "url", "", "URL of the broker, without /v2")
	flags.StringVar(&o.APIVersion, "api-version", "2.17", "version of the API to speak and to judge by: "+strings.Join(conformance.Versions(), ", "))
	flags.StringVar(&o.Service, "service", "", "name or ID of the offering; by default the first of the catalog")
	flags.StringVar(&o.Plan, "plan", "", "name or ID of the plan; by default the first of the offering")
	flags.StringVar(&o.parametersFile, "parameters", "", "file with the parameters that the plan needs")
	flags.BoolVar(&o.insecure, "insecure", false, "do not verify the broker's certificate")
	flags.StringVar(&o.caFile, "ca-file", "", "file with the certificates, in PEM, that the broker's is signed by")
	flags.DurationVar(&o.callTimeout, "call-timeout", time.Minute, "the longest that an answer is waited for")
	flags.DurationVar(&o.PollInterval, "poll-interval", time.Second, "the least time between polls")
	flags.DurationVar(&o.Patience, "patience", 10*time.Minute, "the longest that an operation is waited for, and the removal of all that is left in the end")
	o.credentials.bind(cmd)
	o.output.bind(cmd)
	return cmd
}

// run judges the broker. The report is printed also if the examination had to end early; then what
// is broken decides on the exit code.
func (o *brokerOptions) run(cmd *cobra.Command) error {
	if err := errors.Join(o.output.check(), o.complete(), o.check()); err != nil {
		return err
	}
	report, err := examiner.Examine(cmd.Context(), o.Options)
	if err != nil && report.Good(o.strict) && report.Count(conformance.Kept) == 0 {
		return err // nothing was judged
	}
	printed := o.report(cmd.OutOrStdout(), report)
	if err != nil && printed != nil {
		cmd.PrintErrln("osb-conformance:", err)
	}
	return cmp.Or(printed, err)
}

// check reads what the flags name.
func (o *brokerOptions) check() error {
	address, err := url.Parse(o.URL)
	switch {
	case err != nil || address.Host == "" || address.Scheme != "http" && address.Scheme != "https":
		return errors.New("--url is no URL of http or https")
	case address.User != nil || address.RawQuery != "":
		return errors.New("--url has credentials or a query: use --username, --password or --token")
	case !slices.Contains(conformance.Versions(), o.APIVersion):
		return fmt.Errorf("--api-version is %q: allowed are %s", o.APIVersion, strings.Join(conformance.Versions(), ", "))
	case o.PollInterval <= 0 || o.Patience <= 0 || o.callTimeout <= 0:
		return errors.New("--poll-interval, --patience and --call-timeout must be more than 0")
	}
	o.Username, o.Password, o.Token = o.username, o.password, o.token
	return errors.Join(o.readParameters(), o.connect())
}

// readParameters reads the file. Its text is in no error.
func (o *brokerOptions) readParameters() error {
	if o.parametersFile == "" {
		return nil
	}
	text, err := os.ReadFile(o.parametersFile)
	if err != nil {
		return fmt.Errorf("cannot read --parameters: %w", err)
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&o.Parameters); err != nil {
		return fmt.Errorf("--parameters: %s is no JSON object of provision, update and bind", o.parametersFile)
	}
	return nil
}

// connect makes the client.
func (o *brokerOptions) connect() error {
	transport, is := http.DefaultTransport.(*http.Transport)
	if !is {
		transport = &http.Transport{}
	}
	transport = transport.Clone()
	transport.TLSClientConfig = &tls.Config{MinVersion: tls.VersionTLS12, InsecureSkipVerify: o.insecure} //nolint:gosec // the flag says so
	if o.caFile != "" {
		text, err := os.ReadFile(o.caFile)
		if err != nil {
			return fmt.Errorf("cannot read --ca-file: %w", err)
		}
		pool := x509.NewCertPool()
		if !pool.AppendCertsFromPEM(text) {
			return fmt.Errorf("--ca-file: %s has no certificate in PEM", o.caFile)
		}
		transport.TLSClientConfig.RootCAs = pool
	}
	o.HTTP = &http.Client{Transport: transport, Timeout: o.callTimeout}
	return nil
}
