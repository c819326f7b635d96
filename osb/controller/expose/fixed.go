package expose

import (
	"slices"

	"github.com/defaultplan/defaultplan/osb/controller/addresses"
)

// Fixed are examples of hosts that are denied in every cluster: for each rule
// that does not depend on the cluster a name or an address, in each of its
// notations. Tests of other guards of these rules use them, too.
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
