package offering

import (
	"cmp"
	"context"
	"maps"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/webhook/access"
	"github.com/defaultplan/defaultplan/webhook/catalog"
	"github.com/defaultplan/defaultplan/webhook/review"
)

// A brokerCheck denies offerings of a namespace that name a ClusterServiceBroker their writer may not use.
type brokerCheck struct {
	access access.Rights
	live   client.Reader
	change *change
}

// refuse checks that the writer of a namespaced offering may use the
// ClusterServiceBroker at which its instances would be provisioned: the
// external ID decides what the broker provisions, whatever the name of this
// offering.
func (b *brokerCheck) refuse(ctx context.Context) (*review.Denial, error) {
	if b.change.req.Namespace == "" {
		return nil, nil
	}
	field := b.change.toldApartBy()
	if field == "" {
		return nil, nil
	}
	broker, err := b.brokerToUse(ctx)
	if err != nil || broker == "" {
		return nil, err
	}
	return b.access.BrokerNotUsable(ctx, b.change.req.UserInfo, broker, field)
}

// toldApartBy is the first changed field that decides what a broker provisions,
// or which policies and limits apply; empty if there is none.
func (c *change) toldApartBy() string {
	changes := func(label string) bool { return c.new.fields[label] != c.old.fields[label] }
	switch {
	case c.created, c.new.clusterBroker() != c.old.clusterBroker():
		return "spec.clusterServiceBrokerName"
	case c.new.className() != c.old.className():
		return "spec.serviceClassRef"
	case changes(v1beta1.LabelExternalID):
		return "spec.externalID"
	case changes(v1beta1.LabelExternalName):
		return "spec.externalName"
	case c.new.serviceType != c.old.serviceType:
		return "spec.serviceType"
	case !maps.Equal(c.new.ownLabels(), c.old.ownLabels()):
		return "metadata.labels"
	}
	return ""
}

// brokerToUse is the cluster's broker that a namespace's offering names, or named before
// the write, or, of a plan that names none at all, its class; empty if there is none.
func (b *brokerCheck) brokerToUse(ctx context.Context) (string, error) {
	c := b.change
	named := cmp.Or(c.new.clusterBroker(), c.old.clusterBroker())
	if named != "" || c.new.plan == nil || c.new.fields[v1beta1.LabelServiceBrokerName] != "" {
		return named, nil
	}
	class := &v1beta1.ServiceClass{}
	_, err := catalog.Scope{Reader: b.live, Namespace: c.req.Namespace}.Read(ctx, c.new.className(), class)
	return class.Spec.ClusterServiceBrokerName, err
}
