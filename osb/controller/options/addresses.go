package options

import (
	"errors"
	"fmt"
	"net/netip"

	"github.com/defaultplan/defaultplan/osb/controller/addresses"
)

// BrokerRules are the rules for ServiceBrokers that the flags give. The error says which flag has what wrong.
func (o *Options) BrokerRules() (addresses.Rules, error) {
	allowed, err := prefixesOf("--allow-broker-addresses", o.AllowBrokerAddresses)
	closed, closedErr := prefixesOf("--deny-broker-cidrs", o.DenyBrokerCIDRs)
	return addresses.Rules{AllowAddresses: allowed, Cluster: closed}, errors.Join(err, closedErr)
}

func prefixesOf(flag string, texts []string) ([]netip.Prefix, error) {
	var prefixes []netip.Prefix
	var errs []error
	for _, text := range texts {
		prefix, ok := addresses.ParsePrefix(text)
		if !ok {
			errs = append(errs, fmt.Errorf("%s has %q; allowed are addresses such as 10.0.0.0/8 or 127.0.0.1/32", flag, text))
			continue
		}
		prefixes = append(prefixes, prefix)
	}
	return prefixes, errors.Join(errs...)
}
