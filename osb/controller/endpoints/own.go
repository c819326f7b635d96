package endpoints

import (
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"os"

	"github.com/defaultplan/defaultplan/osb/controller/expose"
)

// AddOwn adds to rules the addresses of this process, and those of the API server that it uses
// at a host.
func AddOwn(rules *expose.Rules, host string) (err error) {
	if rules.Own, err = ownAddresses(); err != nil {
		return err
	}
	for _, name := range apiServerHosts(host) {
		if address, err := netip.ParseAddr(name); err == nil {
			rules.APIServer = append(rules.APIServer, address)
		} else if name != "" {
			rules.APIServerNames = append(rules.APIServerNames, name)
		}
	}
	return nil
}

// apiServerHosts are the names and addresses of the API server that this
// process uses.
func apiServerHosts(host string) []string {
	names := []string{os.Getenv("KUBERNETES_SERVICE_HOST")}
	if u, err := url.Parse(host); err == nil {
		names = append(names, u.Hostname())
	}
	if name, _, err := net.SplitHostPort(host); err == nil {
		names = append(names, name)
	}
	return names
}

// ownAddresses are those of this machine, or pod.
func ownAddresses() ([]netip.Addr, error) {
	interfaces, err := net.InterfaceAddrs()
	if err != nil {
		return nil, fmt.Errorf("cannot find out the controller's own addresses: %w", err)
	}
	var own []netip.Addr
	for _, one := range interfaces {
		if prefix, err := netip.ParsePrefix(one.String()); err == nil {
			own = append(own, prefix.Addr())
		}
	}
	return own, nil
}
