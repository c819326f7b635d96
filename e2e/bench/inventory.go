package main

import (
	"context"
	"fmt"
	"sync/atomic"

	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/e2e/bench/catalog"
	"github.com/defaultplan/defaultplan/e2e/bench/review"
	"github.com/defaultplan/defaultplan/e2e/stack/wait"
)

// An inventory is what a site has to choose from: classes, plans, recorded types and
// policies, and the instance that is bound to.
type inventory struct{ client client.Client }

// stock creates a family, and waits until the default of its type is recorded: the keeper may have
// created the record first.
func (n inventory) stock(ctx context.Context, f *catalog.Family) error {
	objects := []client.Object{f.Class()}
	for i := range f.Plans {
		objects = append(objects, f.Plan(i))
	}
	objects = append(objects, f.Record())
	for _, object := range objects {
		if err := client.IgnoreAlreadyExists(n.client.Create(ctx, object)); err != nil { // parts may share a site
			return fmt.Errorf("cannot create %T %q: %w", object, object.GetName(), err)
		}
	}
	if f.Suggested {
		return nil
	}
	record := &api.ClusterServiceType{}
	return wait.Eventually(ctx, func() (bool, error) {
		err := n.client.Get(ctx, client.ObjectKey{Name: f.Name}, record)
		return err == nil && record.Spec.DefaultPlanRef != nil && record.Spec.DefaultPlanRef.Name == f.PlanName(0), err
	})
}

// stockAll creates families, several at a time.
func (n inventory) stockAll(ctx context.Context, families []*catalog.Family) error {
	group, ctx := errgroup.WithContext(ctx)
	var next atomic.Int64
	for range creators {
		group.Go(func() error {
			for i := next.Add(1) - 1; int(i) < len(families); i = next.Add(1) - 1 {
				if err := n.stock(ctx, families[i]); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return group.Wait() //nolint:wrapcheck // it is our own
}

// bindable creates the instance that is bound to.
func (n inventory) bindable(ctx context.Context, f *catalog.Family) error {
	instance := &api.ServiceInstance{
		TypeMeta: catalog.TypeMeta("ServiceInstance"), ObjectMeta: metav1.ObjectMeta{Namespace: review.Namespace, Name: boundInstance},
		Spec: api.ServiceInstanceSpec{ServiceType: f.Name},
	}
	if err := n.client.Create(ctx, instance); err != nil {
		return fmt.Errorf("cannot create instance %q: %w", boundInstance, err)
	}
	return nil
}
