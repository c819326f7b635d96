package policies

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/osb/controller/catalog"
	"github.com/defaultplan/defaultplan/resolve/policy"
)

// price completes what a target costs by its original in the cluster, wherever a rule asks for it.
func price(ctx context.Context, reader client.Reader, rules []policy.Rule, target *policy.Target) error {
	if target.Original.ExternalID == "" || !policy.AboutCosts(rules) {
		return nil
	}
	plans, err := catalog.ListPlans(ctx, reader, "", client.MatchingFields{v1beta1.FieldExternalID: target.Original.ExternalID})
	if err != nil {
		return err
	}
	*target = target.PricedBy(plans)
	return nil
}
