package plans

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/cmd/svcat/internal/catalog"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
)

// class copies a class with its plans.
func (c *creation) class(cmd *cobra.Command, name string) error {
	if err := c.begin(cmd, name); err != nil {
		return err
	}
	ctx := cmd.Context()
	from, err := findClass(ctx, c.finder, c.loose, c.from)
	if err != nil {
		return cli.Untouched(err)
	}
	class, plans, err := c.copied(ctx, from, name)
	if err != nil {
		return cli.Untouched(err)
	}
	objects := make([]client.Object, 0, len(plans)+1)
	for _, plan := range plans {
		objects = append(objects, plan.Object)
	}
	objects = append(objects, class.Object)
	m := making{env: c.env, client: c.client, writes: &c.writes}
	if err := m.all(ctx, objects); err != nil {
		return err
	}
	if err := c.tellClass(class, from, plans); err != nil {
		return err
	}
	if c.isDefault {
		if err := c.switchTo(ctx, plans[0], class.Title()+"/"+plans[0].Title()); err != nil {
			return err
		}
	}
	return c.print(ctx, objects)
}

// copied is the copy of a class with its plans, which are not created yet. It reads
// what would be in the way.
func (c *creation) copied(ctx context.Context, from catalog.Class, name string) (catalog.Class, []catalog.Plan, error) {
	none := catalog.Class{}
	if from.State() != catalog.Active {
		return none, nil, fmt.Errorf("class %s was removed from the catalog of its broker: nothing can be provisioned from a copy", from.Title())
	}
	namespace, err := c.into(from.Object, from.Broker, from.ClusterBroker)
	if err != nil {
		return none, nil, err
	}
	if err := c.freeClass(ctx, namespace, name); err != nil {
		return none, nil, err
	}
	class := copyClass(from, namespace, name)
	for _, e := range c.edits {
		e.put(editableClass(class))
	}
	class.Spec.Tags = agreeing(class.Spec.Tags, class.Spec.ServiceType)
	plans, err := c.plansToCopy(ctx, from)
	if err != nil {
		return none, nil, err
	}
	copies := copyPlans(plans, from, class, c.isRetype)
	return class, copies, c.defaultable(class, copies)
}

// freeClass says whether a scope has a class of that name, by which people could not
// tell the two apart.
func (c *creation) freeClass(ctx context.Context, namespace, name string) error {
	scope := cli.ScopeOf(namespace)
	_, err := catalog.Finder{Reader: c.client, Scope: scope}.Class(ctx, name)
	return free("class", name, scope, err)
}

// free says whether the search for a name ended without an object: with this error.
func free(kind, name string, scope cli.Scope, err error) error {
	if catalog.IsNotFound(err) {
		return nil
	}
	if _, isName := errors.AsType[*catalog.NameError](err); err != nil && !isName {
		return err
	}
	return fmt.Errorf("%s %q is there already in %s; choose another name, or change it: svcat set %s %s%s", kind, name, scope, kind, name, cli.NamespaceFlag(scope.Namespace))
}

// plansToCopy are the plans of a class that its broker lists, in a stable order.
func (c *creation) plansToCopy(ctx context.Context, from catalog.Class) ([]catalog.Plan, error) {
	if c.noPlans {
		return nil, nil
	}
	all, err := catalog.PlansOf(ctx, c.client, from)
	if err != nil {
		return nil, err
	}
	listed := slices.DeleteFunc(all, func(p catalog.Plan) bool { return p.State() != catalog.Active })
	slices.SortFunc(listed, func(a, b catalog.Plan) int {
		return cmp.Or(cmp.Compare(a.Title(), b.Title()), cmp.Compare(a.Object.GetName(), b.Object.GetName()))
	})
	return listed, nil
}

// defaultable says why --default means no plan, or one without a type.
func (c *creation) defaultable(class catalog.Class, plans []catalog.Plan) error {
	if !c.isDefault {
		return nil
	}
	if len(plans) == 0 {
		return cli.Usagef("--default means the plan that comes with the class, and none would come; leave out --no-plans or --default")
	}
	if len(plans) != 1 {
		return cli.Usagef("--default means one plan, and %s would have %d: %s; leave it out, and then: svcat set plan %s/PLAN --default",
			class.Title(), len(plans), titlesOf(plans), class.Title())
	}
	if plans[0].Spec.ServiceType == "" && class.Spec.ServiceType == "" {
		return cli.Usagef("--default needs a service type, which class %s does not have; give one, as in --type mysql", class.Title())
	}
	return nil
}

func (c *creation) tellClass(class, from catalog.Class, plans []catalog.Plan) error {
	title := class.Title() + in(class.Object.GetNamespace())
	switch len(plans) {
	case 0:
		return c.writes.Say(c.env, "class %s was created from %s, without plans", title, from.Title())
	case 1:
		return c.writes.Say(c.env, "class %s was created from %s, with plan %s", title, from.Title(), plans[0].Title())
	}
	return c.writes.Say(c.env, "class %s was created from %s, with plans %s", title, from.Title(), titlesOf(plans))
}
