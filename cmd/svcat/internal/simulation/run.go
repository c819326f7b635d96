package simulation

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/simulation/world"
	"github.com/defaultplan/defaultplan/webhook/offline"
	"github.com/defaultplan/defaultplan/webhook/options"
)

// Run simulates the changes, in order, and says what is different after them. The error is
// of a state or a change that cannot be simulated.
func Run(ctx context.Context, state State, changes []Change) (*Report, error) {
	return run(ctx, state, changes, false)
}

// run is Run. With every, it judges all objects, and not only those for which something may
// be different.
func run(ctx context.Context, state State, changes []Change, every bool) (*Report, error) {
	of := state.Options
	if of == nil {
		of = options.New()
	}
	now, err := clusterOf(ctx, &state, of)
	if err != nil {
		return nil, err
	}
	changed := now.Clone()
	if state.ParametersUnknown {
		// What stands in place of a value must not keep an instance from being decided.
		changed = now.CloneWith(withoutSchemas(of))
	}
	then, err := world.New(changed, of)
	if err != nil {
		return nil, err
	}
	report := &Report{NotKnown: slices.Clone(state.Unknown)}
	for i := range changes {
		if err := apply(ctx, then, &changes[i], report); err != nil {
			return nil, fmt.Errorf("cannot simulate change %d: %w", i+1, err)
		}
	}
	c := &comparison{
		report: report, changes: then.Changes(), options: of, parametersUnknown: state.ParametersUnknown, every: every,
		now: newSide(now), then: newSide(then.Cluster),
	}
	if err := c.compare(ctx); err != nil {
		return nil, err
	}
	report.Notes = then.Notes()
	report.NotKnown = slices.Concat(report.NotKnown, then.NotKnown(), unknown(c))
	report.sort()
	return report, nil
}

// clusterOf is a cluster with the objects of a state.
func clusterOf(ctx context.Context, state *State, of *options.Options) (*offline.Cluster, error) {
	cluster, err := offline.New(of) //nolint:contextcheck // it makes something in memory, and waits for nothing
	if err == nil {
		err = world.Index(ctx, cluster)
	}
	for i := 0; err == nil && ctx.Err() == nil && i < len(state.JSON); i++ {
		object := state.JSON[i]
		state.JSON[i] = nil                            // the cluster holds it in less memory
		if err = cluster.Restore(object); err != nil { //nolint:contextcheck // nor does this
			err = fmt.Errorf("object %d: %w", i+1, err)
		}
	}
	for i := 0; err == nil && ctx.Err() == nil && i < len(state.Objects); i++ {
		err = restore(cluster, state.Objects[i]) //nolint:contextcheck // nor does this
	}
	if err = cmp.Or(err, ctx.Err()); err != nil {
		return nil, fmt.Errorf("cannot simulate this state: %w", err)
	}
	return cluster, nil
}

// restore takes over an object as it is stored.
func restore(cluster *offline.Cluster, object *unstructured.Unstructured) error {
	raw, err := object.MarshalJSON()
	if err != nil {
		return fmt.Errorf("cannot encode %s %q: %w", object.GetKind(), object.GetName(), err)
	}
	return cluster.Restore(raw) //nolint:wrapcheck // it names the object
}

// apply makes a change. One that admission denies has no effect, and is reported.
func apply(ctx context.Context, then *world.World, change *Change, report *Report) error {
	if err := change.validate(); err != nil {
		return err
	}
	at := change.object()
	err := perform(ctx, then, change)
	if err == nil {
		return then.Answer(ctx) //nolint:wrapcheck // it names the object
	}
	denied := world.Denied(err)
	if denied == nil {
		return err
	}
	report.Refusals = append(report.Refusals, Refusal{Kind: at.Kind, Namespace: at.Namespace, Name: at.Name, Change: true, Message: denied.ErrStatus.Message})
	return nil
}

func perform(ctx context.Context, then *world.World, change *Change) error {
	switch {
	case change.Default != nil:
		return then.SetDefault(ctx, change.Default.Namespace, change.Default.Class, change.Default.Plan)
	case change.Apply != nil:
		return then.Apply(ctx, change.Apply)
	case change.Catalog != nil:
		return then.Relist(ctx, change.Catalog.Namespace, change.Catalog.Broker, change.Catalog.Answer)
	}
	return remove(ctx, then, change.Delete)
}

// remove deletes an object, which must be there.
func remove(ctx context.Context, then *world.World, at *Object) error {
	named := &unstructured.Unstructured{}
	named.SetGroupVersionKind(v1beta1.GroupVersion.WithKind(at.Kind))
	named.SetNamespace(at.Namespace)
	named.SetName(at.Name)
	kind, stored, err := then.Stored(named.GroupVersionKind(), world.At(at.Namespace, at.Name))
	switch {
	case err != nil:
		return fmt.Errorf("cannot delete %s %q: %w", at.Kind, at.Name, err)
	case stored == nil && kind.Namespaced:
		return fmt.Errorf("cannot delete %s %q: there is none of that name in namespace %q", at.Kind, at.Name, at.Namespace)
	case stored == nil:
		return fmt.Errorf("cannot delete %s %q: there is none of that name", at.Kind, at.Name)
	}
	return then.Delete(ctx, named)
}
