package controller

import (
	"context"
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
)

// addIndexes makes the cache find what the watches of the controllers look for.
func addIndexes(ctx context.Context, indexer client.FieldIndexer) error {
	if err := addBrokerIndexes(ctx, indexer); err != nil {
		return err
	}
	if err := indexer.IndexField(ctx, &v1beta1.ServiceBinding{}, v1beta1.FieldInstanceRefName, instanceRefOf); err != nil {
		return fmt.Errorf("cannot index bindings by instance: %w", err)
	}
	return nil
}

func instanceRefOf(o client.Object) []string {
	binding, ok := o.(*v1beta1.ServiceBinding)
	if !ok || binding.Spec.InstanceRef == nil {
		return nil
	}
	return []string{binding.Spec.InstanceRef.Name}
}
