package controller

import (
	"context"
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
)

// addIndexes registers the indexes that the watches of the controllers need.
func addIndexes(ctx context.Context, indexer client.FieldIndexer) error {
	if err := addBrokerIndexes(ctx, indexer); err != nil {
		return err
	}
	if err := indexer.IndexField(ctx, &v1beta1.ServiceBinding{}, indexInstance, instanceOf); err != nil {
		return fmt.Errorf("cannot index bindings by instance: %w", err)
	}
	return addPolicyIndexes(ctx, indexer)
}

// indexInstance finds the bindings for an instance, by its namespace and name. It is
// the cache's own.
const indexInstance = "defaultplan/instance"

func instanceOf(o client.Object) []string {
	binding, ok := o.(*v1beta1.ServiceBinding)
	if !ok {
		return nil
	}
	return []string{binding.InstanceKey().String()}
}
