package offline

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	definitions "github.com/defaultplan/defaultplan/deploy/schema"
	"github.com/defaultplan/defaultplan/resolve/costs"
	"github.com/defaultplan/defaultplan/resolve/policy"
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
func (c *Cluster) loadNamespace(ctx context.Context, object *unstructured.Unstructured) error {
	labels := object.GetLabels()
	if labels == nil {
		labels = map[string]string{}
	}
	labels[corev1.LabelMetadataName] = object.GetName()
	object.SetLabels(labels)
	return c.keep(ctx, object)
}

// Restore takes over objects as a cluster stored them, as JSON: they are the Cluster's from
// then on, and neither completed nor checked. The error is of one that cannot be read, that
// is neither of our kinds nor a Namespace, or that was never stored.
func (c *Cluster) Restore(objects ...[]byte) error {
	ctx := quiet(context.Background())
	for _, object := range objects {
		typed, err := c.store.restore(object)
		if err != nil {
			return err
		}
		c.rule(ctx, typed)
	}
	return nil
}

func (c *Cluster) loadOne(ctx context.Context, object *unstructured.Unstructured) error {
	kind, err := kindOf(object)
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

// Objects are copies of all that is stored, in the order of their kinds and names.
func (c *Cluster) Objects() []*unstructured.Unstructured {
	var all []*unstructured.Unstructured
	for _, one := range c.store.everything() {
		all = append(all, one.object())
	}
	return all
}

// Each is each object of a kind as Go reads it, in the order of their names. None may be
// changed.
func (c *Cluster) Each(of schema.GroupVersionKind) iter.Seq[client.Object] {
	return func(yield func(client.Object) bool) {
		all, _ := c.store.list(of, "")
		for _, one := range all {
			if !yield(one.typed) {
				return
			}
		}
	}
}

// Newest is when the last object was created, and how many objects there are.
func (c *Cluster) Newest() (at time.Time, objects int) {
	at = time.Unix(0, 0).UTC()
	for _, one := range c.store.everything() {
		objects++
		if created := one.typed.GetCreationTimestamp().Time; created.After(at) {
			at = created
		}
	}
	return at, objects
}

// derives are the resources for which the mutating phase derives metadata, such
// as labels, from the object alone.
var derives = map[string]bool{
	"clusterservicebrokers": true, "servicebrokers": true,
	"clusterserviceclasses": true, "serviceclasses": true, "clusterserviceplans": true, "serviceplans": true,
}

// complete adds to an object what admission derives from it.
func (c *Cluster) complete(ctx context.Context, kind *definitions.Kind, object *unstructured.Unstructured) error {
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
	before := c.store.find(object.GroupVersionKind(), client.ObjectKeyFromObject(object))
	typed, err := c.store.put(object)
	if err != nil {
		return err
	}
	c.rule(ctx, typed)
	if c.watch != nil {
		c.watch(typedOf(before), typed)
	}
	return nil
}

// rule takes in what an object rules, if it is a policy.
func (c *Cluster) rule(ctx context.Context, typed client.Object) {
	if kind := kindOfPolicy(typed); kind != "" {
		key := kind + "/" + typed.GetName()
		delete(c.idle, key)
		if err := c.rules.Put(ctx, typed); err != nil {
			c.idle[key] = err
		}
	}
}

// remove takes an object out. A policy rules no more.
func (c *Cluster) remove(kind schema.GroupVersionKind, object *unstructured.Unstructured) {
	before := c.store.find(kind, client.ObjectKeyFromObject(object))
	if before == nil {
		return
	}
	c.store.remove(kind, before.at)
	if kind := kindOfPolicy(before.typed); kind != "" {
		delete(c.idle, kind+"/"+before.at.Name)
		c.rules.Remove(before.typed)
	}
	if c.watch != nil {
		c.watch(before.typed, nil)
	}
}

// kindOfPolicy is the kind of a policy, empty for another object.
func kindOfPolicy(object client.Object) string {
	switch object.(type) {
	case *v1beta1.ProvisioningPolicy:
		return policy.KindProvisioning
	case *v1beta1.BindingPolicy:
		return policy.KindBinding
	}
	return ""
}

// typedOf is an object as Go reads it, nil for none.
func typedOf(one *stored) client.Object {
	if one == nil {
		return nil
	}
	return one.typed
}
