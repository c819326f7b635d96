package expose

import (
	"slices"

	"github.com/defaultplan/defaultplan/osb/controller/addresses"
)

// Fixed are hosts that no Service leads to in any cluster: for every rule that is the same
// in all of them a name or an address, in each form that it has. What else holds the
// controller to these rules is tried with them.
func Fixed() []string {
	hosts := slices.Concat([]string{
		"db", "127.1", "x.0x7f", "db.prod.svc", "db.prod.svc.other.example", "10-1-2-3.prod.pod", "db.cluster.local",
	}, metadataNames, ownNames)
	for _, name := range slices.Concat(metadataNames, ownNames) {
		hosts = append(hosts, "x."+name)
	}
	for _, address := range addresses.Fixed() {
		hosts = append(hosts, address.String())
	}
	return hosts
}
