// Package indexes are the indexes of the cache.
package indexes

import (
	"context"
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
)

// Add makes the cache find what brokers are reconciled by, and the bindings of an
// instance. It is called once, before the cache starts.
func Add(ctx context.Context, indexer client.FieldIndexer) error {
	if err := addBroker(ctx, indexer); err != nil {
		return err
	}
	if err := indexer.IndexField(ctx, &v1beta1.ServiceBinding{}, Instance, InstanceOf); err != nil {
		return fmt.Errorf("cannot index bindings by instance: %w", err)
	}
	return nil
}

// Instance finds the bindings for an instance, by its namespace and name. It is
// the cache's own.
const Instance = "defaultplan/instance"

// InstanceOf is the value of Instance for a binding.
func InstanceOf(o client.Object) []string {
	binding, ok := o.(*v1beta1.ServiceBinding)
	if !ok {
		return nil
	}
	return []string{binding.InstanceKey().String()}
}
