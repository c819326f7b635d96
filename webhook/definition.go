package webhook

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/resolve"
)

// A definition is a plan with its class, as far as admission reads them. The
// specs belong to the cache: they are only read.
type definition struct {
	Plan  resolve.PlanEntry
	Class resolve.ClassEntry

	plan  *v1beta1.CommonServicePlanSpec
	class *v1beta1.CommonServiceClassSpec
}

// agreesWithType says that the definition is of the type, or of none.
func (d *definition) agreesWithType(serviceType string) bool {
	own := d.serviceType()
	return serviceType == "" || own == "" || own == serviceType
}

func (d *definition) serviceType() string {
	if d.Plan.Type != "" {
		return d.Plan.Type
	}
	return d.Class.Type
}

// title is the definition as people know it: class/plan.
func (d *definition) title() string {
	return orElse(d.Class.ExternalName, d.Class.Name) + "/" + orElse(d.Plan.ExternalName, d.Plan.Name)
}

func orElse(value, otherwise string) string {
	if value != "" {
		return value
	}
	return otherwise
}

// define reads a plan and its class from the cache, or live where the cache
// lacks one of them or has another plan of that name. A uid of "" fits any plan.
// It returns nil if there is no such plan, or if its class is absent.
func (c *catalog) define(ctx context.Context, plan resolve.Ref, uid string) (*definition, error) {
	for _, reader := range []client.Reader{c.cached, c.live} {
		found, err := defineFrom(ctx, shelf{reader: reader, namespace: plan.Namespace}, plan.Name)
		if err != nil {
			return nil, err
		}
		if found != nil && (uid == "" || found.Plan.UID == uid) {
			return found, nil
		}
	}
	return nil, nil
}

// defineLive is define on what the API server has now.
func (c *catalog) defineLive(ctx context.Context, plan resolve.Ref) (*definition, error) {
	return defineFrom(ctx, shelf{reader: c.live, namespace: plan.Namespace}, plan.Name)
}

func defineFrom(ctx context.Context, s shelf, name string) (*definition, error) {
	if s.namespace == "" {
		plan, class := &v1beta1.ClusterServicePlan{}, &v1beta1.ClusterServiceClass{}
		if found, err := s.read(ctx, name, plan); err != nil || !found {
			return nil, err
		}
		if found, err := s.read(ctx, plan.Spec.ClusterServiceClassRef.Name, class); err != nil || !found {
			return nil, err
		}
		return &definition{
			Plan: resolve.PlanFrom(plan), Class: resolve.ClassFrom(class),
			plan: &plan.Spec.CommonServicePlanSpec, class: &class.Spec.CommonServiceClassSpec,
		}, nil
	}
	plan, class := &v1beta1.ServicePlan{}, &v1beta1.ServiceClass{}
	if found, err := s.read(ctx, name, plan); err != nil || !found {
		return nil, err
	}
	if found, err := s.read(ctx, plan.Spec.ServiceClassRef.Name, class); err != nil || !found {
		return nil, err
	}
	return &definition{
		Plan: resolve.PlanFrom(plan), Class: resolve.ClassFrom(class),
		plan: &plan.Spec.CommonServicePlanSpec, class: &class.Spec.CommonServiceClassSpec,
	}, nil
}
