package cli

import (
	"flag"
	"strconv"

	"github.com/spf13/pflag"
	"k8s.io/klog/v2"
)

// bindLogs adds the flags of kubectl's and of the older svcat's for what libraries
// log: with -v=6 a line for each request.
func bindLogs(flags *pflag.FlagSet) {
	klogs := flag.NewFlagSet("", flag.ContinueOnError)
	klog.InitFlags(klogs)
	level := pflag.PFlagFromGoFlag(klogs.Lookup("v"))
	level.Value = logLevel{level.Value}
	level.Usage = "How much to log of requests to the API server: 6 names each, 7 shows headers too; higher is as 7"
	flags.AddFlag(level)
	// Accepted as ever. There is nowhere else that svcat logs to.
	older := pflag.PFlagFromGoFlag(klogs.Lookup("logtostderr"))
	older.Usage, older.Hidden = "Log to standard error, as svcat always does", true
	flags.AddFlag(older)
}

// mostLogged is the level at which all is logged but bodies: in them are parameters
// and Secrets.
const mostLogged = 7

// A logLevel is klog's, up to mostLogged.
type logLevel struct{ pflag.Value }

// Set takes a number.
func (l logLevel) Set(text string) error {
	if level, err := strconv.Atoi(text); err == nil && level > mostLogged {
		text = strconv.Itoa(mostLogged)
	}
	return l.Value.Set(text)
}
