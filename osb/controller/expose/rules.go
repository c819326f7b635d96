package expose

import (
	"fmt"
	"slices"
	"strings"

	"github.com/defaultplan/defaultplan/osb/controller/addresses"
)

// Rules say where no Service may lead.
type Rules struct {
	// Rules are those for addresses.
	addresses.Rules

	// AllowNames are the operator's exceptions: a name allows itself and what is below it.
	AllowNames []string
	// APIServerNames are names of the API server.
	APIServerNames []string
	// Domain is the name that all of the cluster's names end in, such as cluster.local.
	Domain string
}

// metadataNames are the names of clouds' metadata services.
var metadataNames = []string{
	"metadata.google.internal", "metadata.goog", "instance-data.ec2.internal", "metadata.azure.internal",
	"metadata.tencentyun.com", "metadata.packet.net", "metadata.platformequinix.com",
}

// ownNames are names that resolve to the machine, or the API server,
// everywhere.
var ownNames = []string{"localhost", "localdomain", "localhost4", "localhost6", "kubernetes", "kubernetes.default"}

// refuses says why a host is denied; empty: it is allowed.
func (r *Rules) refuses(h host) string {
	if h.address.IsValid() {
		return r.Refuse(h.address)
	}
	return r.refusesName(h.name)
}

func (r *Rules) refusesName(name string) string {
	if slices.ContainsFunc(r.AllowNames, func(allowed string) bool { return isBelow(name, allowed) }) {
		return ""
	}
	labels := strings.Split(name, ".")
	below := func(names []string) bool {
		return slices.ContainsFunc(names, func(other string) bool { return isBelow(name, other) })
	}
	switch {
	case below(metadataNames):
		return "is that of a cloud's metadata service"
	case below(r.APIServerNames):
		return "is the API server's"
	case below(ownNames):
		return "means the machine itself, or the API server"
	case len(labels) == 1:
		return "has no dot: what it means depends on who asks"
	case slices.Contains(labels[1:], "svc"), labels[len(labels)-1] == "pod", r.Domain != "" && isBelow(name, r.Domain), isBelow(name, "cluster.local"):
		return "is within the cluster"
	}
	return ""
}

// isBelow says whether a name equals another, or is a subdomain of it, ignoring
// case and a trailing dot.
func isBelow(name, other string) bool {
	other = strings.ToLower(strings.Trim(other, "."))
	return other != "" && (name == other || strings.HasSuffix(name, "."+other))
}

// Allow reads an operator's exceptions: addresses, such as 10.0.0.0/8, and names.
func (r *Rules) Allow(texts []string) error {
	for _, text := range texts {
		if prefix, ok := addresses.ParsePrefix(text); ok {
			r.AllowAddresses = append(r.AllowAddresses, prefix)
			continue
		}
		name := strings.ToLower(strings.Trim(text, "."))
		if notName(name) != "" {
			return fmt.Errorf("cannot read %q: allowed are addresses such as 10.0.0.0/8, and names such as db.svc.cluster.local", text)
		}
		r.AllowNames = append(r.AllowNames, name)
	}
	return nil
}

// Within reads ranges of the cluster's own addresses.
func (r *Rules) Within(texts []string) error {
	for _, text := range texts {
		prefix, ok := addresses.ParsePrefix(text)
		if !ok {
			return fmt.Errorf("cannot read %q: allowed are addresses such as 10.244.0.0/16", text)
		}
		r.Cluster = append(r.Cluster, prefix)
	}
	return nil
}
