package cli

import (
	"flag"
	"strconv"

	"github.com/spf13/pflag"
	"k8s.io/klog/v2"
)

// bindLogs adds the logging flags of kubectl and of the retired svcat: with -v=6,
// client libraries log a line for each request.
func bindLogs(flags *pflag.FlagSet) {
	flags.AddFlag(pflag.PFlagFromGoFlag(&flag.Flag{
		Name: "v", DefValue: "0", Value: new(logLevel),
		Usage: "How much to log of requests to the API server: 6 names each, 7 shows headers too; higher is as 7",
	}))
	// Accepted for compatibility: svcat has no other place to log to.
	flags.Bool("logtostderr", true, "Log to standard error, as svcat always does")
	flags.Lookup("logtostderr").Hidden = true
}

// mostLogged is the level at which all is logged but bodies: in them are parameters
// and Secrets.
const mostLogged = 7

// A logLevel is the value of -v. It holds a number of its own: klog's level is one
// global, which must not be read while another command of the process sets it.
type logLevel int

// String is the level that was set.
func (l *logLevel) String() string { return strconv.Itoa(int(*l)) }

// Set takes a number, and sets klog's level to it, at most to mostLogged.
func (l *logLevel) Set(text string) error {
	level, err := strconv.Atoi(text)
	if err != nil {
		return err
	}
	*l = logLevel(min(level, mostLogged))
	return new(klog.Level).Set(l.String())
}
