package offline

import (
	"context"
	"encoding/json"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/deploy/schema"
	"github.com/defaultplan/defaultplan/resolve/costs"
)

// Load stores objects without admission. It fills in the defaults of the
// schema, and what admission derives from an object alone, such as labels. It
// replaces an object that exists already. The error names an object that is
// neither of our kinds nor a Namespace, or that its CRD does not allow; an
// object with a resourceVersion was stored before and is not checked against
// the CRD.
func (c *Cluster) Load(objects ...*unstructured.Unstructured) error {
	ctx := quiet(context.Background())
	for _, object := range objects {
		load := c.loadOne
		if object.GroupVersionKind() == corev1.SchemeGroupVersion.WithKind("Namespace") {
			load = c.loadNamespace
		}
		if err := load(ctx, object.DeepCopy()); err != nil {
			return err
		}
	}
	return nil
}

// loadNamespace stores a namespace with the label that every namespace has.
func (c *Cluster) loadNamespace(_ context.Context, object *unstructured.Unstructured) error {
	labels := object.GetLabels()
	if labels == nil {
		labels = map[string]string{}
	}
	labels[corev1.LabelMetadataName] = object.GetName()
	object.SetLabels(labels)
	_, err := c.store.put(object)
	return err
}

func (c *Cluster) loadOne(ctx context.Context, object *unstructured.Unstructured) error {
	kind, err := c.kindOf(object)
	if err != nil {
		return err
	}
	was := object.GetResourceVersion() != ""
	unknown, err := kind.Coerce(object)
	if err == nil && !was {
		err = strict(unknown)
	}
	if err != nil {
		return fmt.Errorf("cannot read %s %q: %w", kind.Kind, object.GetName(), err)
	}
	object.SetNamespace(keyOf(kind, object).Namespace)
	if object.GetUID() == "" {
		object.SetUID(derived(kind.Kind, object.GetNamespace(), object.GetName()))
	}
	if err := c.complete(ctx, kind, object); err != nil {
		return err
	}
	if was {
		return c.keep(ctx, object)
	}
	if err := price(kind.Resource, object); err != nil {
		return err
	}
	if errs := kind.Validate(ctx, object, nil); len(errs) > 0 {
		return fmt.Errorf("cannot take in %s %q: %w", kind.Kind, object.GetName(), errs.ToAggregate())
	}
	return c.keep(ctx, object)
}

// derives are the resources for which the mutating phase derives metadata, such
// as labels, from the object alone.
var derives = map[string]bool{
	"clusterservicebrokers": true, "servicebrokers": true,
	"clusterserviceclasses": true, "serviceclasses": true, "clusterserviceplans": true, "serviceplans": true,
}

// complete adds to an object what admission derives from it.
func (c *Cluster) complete(ctx context.Context, kind *schema.Kind, object *unstructured.Unstructured) error {
	if !derives[kind.Resource] {
		return nil
	}
	w := &write{kind: kind, object: object.DeepCopy(), user: admin}
	if err := c.mutate(ctx, w); err != nil {
		return fmt.Errorf("cannot complete %s %q: %w", kind.Kind, object.GetName(), err)
	}
	if w.result.Denied == nil {
		object.Object = w.object.Object
	}
	return nil
}

// price gives a plan the costs of its metadata, as a relist would, unless it has some.
func price(resource string, object *unstructured.Unstructured) error {
	status, _, _ := unstructured.NestedMap(object.Object, "status")
	if resource != "clusterserviceplans" && resource != "serviceplans" || status["costs"] != nil || status["malformedCosts"] != nil {
		return nil
	}
	metadata, found, _ := unstructured.NestedMap(object.Object, "spec", "externalMetadata")
	if !found {
		return nil
	}
	raw, err := json.Marshal(metadata)
	if err != nil {
		return fmt.Errorf("cannot encode the metadata of plan %q: %w", object.GetName(), err)
	}
	listed, err := costs.Parse(raw)
	if err != nil {
		return unstructured.SetNestedField(object.Object, err.Error(), "status", "malformedCosts")
	}
	var values []any
	for _, cost := range listed {
		values = append(values, map[string]any{"currency": cost.Currency, "amount": cost.Amount, "unit": cost.Unit})
	}
	if len(values) == 0 {
		return nil
	}
	return unstructured.SetNestedSlice(object.Object, values, "status", "costs")
}

// keep stores an object. A policy rules from then on.
func (c *Cluster) keep(ctx context.Context, object *unstructured.Unstructured) error {
	typed, err := c.store.put(object)
	if err != nil {
		return err
	}
	switch typed.(type) {
	case *v1beta1.ProvisioningPolicy, *v1beta1.BindingPolicy:
		key := object.GetKind() + "/" + object.GetName()
		delete(c.idle, key)
		if err := c.rules.Put(ctx, typed); err != nil {
			c.idle[key] = err
		}
	}
	return nil
}
