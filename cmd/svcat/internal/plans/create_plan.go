package plans

import (
	"cmp"
	"context"
	"fmt"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/cmd/svcat/internal/catalog"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
)

// plan copies a plan.
func (c *creation) plan(cmd *cobra.Command, name string) error {
	if err := c.begin(cmd, name); err != nil {
		return err
	}
	ctx := cmd.Context()
	from, err := findPlan(ctx, c.finder, c.loose, "", c.from)
	if err != nil {
		return cli.Untouched(err)
	}
	plan, class, err := c.copiedPlan(ctx, from, name)
	if err != nil {
		return cli.Untouched(err)
	}
	fromTitle, err := titleOf(ctx, c.client, from)
	if err != nil {
		return cli.Untouched(err)
	}
	title, objects := class.Title()+"/"+name, []client.Object{plan.Object}
	m := making{env: c.env, client: c.client, writes: &c.writes}
	if err := m.all(ctx, objects); err != nil {
		return err
	}
	if err := c.writes.Say(c.env, "plan %s%s was created from %s", title, in(plan.Object.GetNamespace()), fromTitle); err != nil {
		return err
	}
	if c.isDefault {
		if err := c.switchTo(ctx, plan, title); err != nil {
			return err
		}
	}
	return c.print(ctx, objects)
}

// copiedPlan is the copy of a plan, which is not created yet, and its class.
func (c *creation) copiedPlan(ctx context.Context, from catalog.Plan, name string) (catalog.Plan, catalog.Class, error) {
	none := catalog.Plan{}
	if from.State() != catalog.Active {
		return none, catalog.Class{}, fmt.Errorf("plan %s was removed from the catalog of its broker: nothing can be provisioned from a copy", from.Title())
	}
	namespace, err := c.into(from.Object, from.Broker, from.ClusterBroker)
	if err != nil {
		return none, catalog.Class{}, err
	}
	class, err := c.classOfCopy(ctx, from, namespace)
	if err != nil {
		return none, class, err
	}
	if err := c.freePlan(ctx, class, name); err != nil {
		return none, class, err
	}
	plan := copyPlan(from, naming{namespace, name, name, class})
	for _, e := range c.edits {
		e.put(editablePlan(plan))
	}
	if c.isDefault && plan.Spec.ServiceType == "" && class.Spec.ServiceType == "" {
		return none, class, cli.Usagef("--default needs a service type, which neither the plan nor class %s has; give one, as in --type mysql", class.Title())
	}
	return plan, class, nil
}

// classOfCopy is the class that the copy of a plan is of: one that stands for the same
// service at the same broker, or the broker would refuse every instance.
func (c *creation) classOfCopy(ctx context.Context, from catalog.Plan, namespace string) (catalog.Class, error) {
	own, err := catalog.ClassOfPlan(ctx, c.client, from)
	if apierrors.IsNotFound(err) {
		return own, fmt.Errorf("plan %s is of class %s, which is not there: it cannot be copied", from.Title(), from.ClassName)
	}
	if err != nil {
		return own, err
	}
	if c.intoClass == "" {
		if namespace == own.Object.GetNamespace() {
			return own, nil
		}
		return own, cli.Usagef("a plan in %s is of a class there; name it with --class, or first: svcat create class NAME --from %s --scope %s",
			cli.ScopeOf(namespace), own.Title(), c.scope)
	}
	class, err := catalog.Finder{Reader: c.client, Scope: cli.ScopeOf(namespace)}.Class(ctx, c.intoClass)
	if err != nil {
		return class, err
	}
	if class.Broker != from.Broker || class.ClusterBroker != from.ClusterBroker || class.Spec.ExternalID != own.Spec.ExternalID {
		return class, fmt.Errorf("class %s is another service than %s, or of another broker: a plan of the one means nothing in the other", class.Title(), own.Title())
	}
	return class, nil
}

// freePlan says whether the class has a plan of that name, or its scope an object.
func (c *creation) freePlan(ctx context.Context, class catalog.Class, name string) error {
	scope := cli.ScopeOf(class.Object.GetNamespace())
	finder := catalog.Finder{Reader: c.client, Scope: scope}
	_, inClass := finder.PlanOf(ctx, class, name)
	finder.KubeName = true
	_, anywhere := finder.Plan(ctx, "", name)
	return cmp.Or(free("plan", name, scope, inClass), free("plan", name, scope, anywhere))
}
