package explain

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/resolve/policy"
)

// claim holds a binding that names no instance, as its user writes it, against the
// rules: those for the instance that it asks for, then those for the binding to it.
func (a *Asker) claim(ctx context.Context, asked *v1beta1.ServiceBinding, written client.Object) (*Now, []string, error) {
	instance := &v1beta1.ServiceInstance{ObjectMeta: asked.ObjectMeta, Spec: asked.Spec.OwnInstance()}
	notes := nameByReferences(&instance.Spec)
	chosen, err := a.chooser.choose(ctx, instance)
	if err != nil {
		return nil, nil, err
	}
	// After the choice, which goes by the policies about instances alone.
	g := gatherer{a.reader, chosen.slice}
	if err := g.binding(ctx); err != nil {
		return nil, nil, err
	}
	now := chosen.now
	now.ProvisionParameters, now.Parameters = now.Parameters, nil
	now.Secrets = secretsOf(asked.Spec.ParametersFrom)
	if class, plan, ok := chosen.offering(); ok {
		a.chooser.bind(now, g.slice, class, plan, &policy.Instance{Namespace: asked.Namespace}, asked)
	}
	if _, err := a.admission.apply(ctx, now, chosen.matter(), written); err != nil {
		return nil, nil, err
	}
	return now, append(notes, g.notes...), nil
}
