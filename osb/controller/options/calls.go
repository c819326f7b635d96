package options

import (
	"errors"
	"fmt"

	"github.com/spf13/pflag"

	"github.com/defaultplan/defaultplan/osb/controller/queue"
)

// CallOptions are how many calls to brokers run at once.
type CallOptions struct {
	// Calls is how many there are in all.
	Calls int
	// NamespaceShare is how many of a hundred the brokers of one namespace may have
	// together, and NamespacedShare those of all namespaces.
	NamespaceShare, NamespacedShare int
}

// CallsPerBroker is how many calls one broker has at once at most: one that hangs must not
// take all of them.
const CallsPerBroker = 24

func newCallOptions() CallOptions {
	return CallOptions{Calls: 128, NamespaceShare: 25, NamespacedShare: 75}
}

func (o *CallOptions) bind(flags *pflag.FlagSet) {
	flags.IntVar(&o.Calls, "broker-calls", o.Calls, fmt.Sprintf("how many calls to brokers run at once; one broker has at most %d of them", CallsPerBroker))
	flags.IntVar(&o.NamespaceShare, "namespace-call-share", o.NamespaceShare,
		"how many per cent of --broker-calls the ServiceBrokers of one namespace have together at most; the same share of catalogs is fetched at once")
	flags.IntVar(&o.NamespacedShare, "namespaced-call-share", o.NamespacedShare,
		"how many per cent of --broker-calls the ServiceBrokers of all namespaces have together at most; the rest is for ClusterServiceBrokers")
}

func (o *CallOptions) validate() error {
	var errs []error
	if o.Calls < 1 {
		errs = append(errs, fmt.Errorf("--broker-calls is %d; allowed is 1 or more", o.Calls))
	}
	const all = 100
	for _, share := range []struct {
		flag  string
		value int
	}{{"namespace-call-share", o.NamespaceShare}, {"namespaced-call-share", o.NamespacedShare}} {
		if share.value < 1 || share.value > all {
			errs = append(errs, fmt.Errorf("--%s is %d; allowed is 1 to %d", share.flag, share.value, all))
		}
	}
	return errors.Join(errs...)
}

// Limits are those of so many calls at once.
func (o *CallOptions) Limits(calls, perBroker int) queue.Limits {
	const all = 100
	share := func(percent int) int { return max(1, calls*percent/all) }
	return queue.Limits{Calls: calls, PerBroker: perBroker, PerNamespace: share(o.NamespaceShare), Namespaced: share(o.NamespacedShare)}
}
