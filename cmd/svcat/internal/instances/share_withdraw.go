package instances

import (
	"context"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/api/equality"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
)

// deletesBindings says that a change of the sharing may delete bindings in other namespaces
// because of what was stored before: this command did not ask for it.
func (s *share) deletesBindings(was, now *v1beta1.Sharing) bool {
	return !s.unbind && now.WhenWithdrawn == v1beta1.WithdrawnUnbind && withdrawn(was, now)
}

// withdrawn says that a namespace that could bind may lose that right, as far as the sharing
// tells.
func withdrawn(was, now *v1beta1.Sharing) bool {
	if was == nil {
		return false
	}
	for _, namespace := range was.Namespaces {
		if !slices.Contains(now.Namespaces, namespace) {
			return true
		}
	}
	return was.NamespaceSelector != nil && !equality.Semantic.DeepEqual(was.NamespaceSelector, now.NamespaceSelector)
}

// confirm asks, before bindings in other namespaces are deleted because of the stored
// sharing, whether that is meant.
func (s *share) confirm(ctx context.Context, instance *v1beta1.ServiceInstance) error {
	now, err := s.change(instance.Spec.Sharing)
	if err != nil {
		return err
	}
	if !s.deletesBindings(instance.Spec.Sharing, now) {
		return nil
	}
	s.confirmed = s.yes || !s.write.Stores()
	if s.confirmed {
		return nil
	}
	q := cli.Question{
		Where:   "taking away what deletes bindings (whenWithdrawn is Unbind)",
		Instead: "add --yes if it is meant, or --unbind=false to leave them their credentials",
		Text: fmt.Sprintf("The sharing of instance %q says that bindings are deleted of those who may bind no more (whenWithdrawn is Unbind): "+
			"they go now, with their Secrets; --unbind=false leaves them.\nAre you sure?", instance.Name),
	}
	err = q.Ask(ctx, s.env)
	s.confirmed = err == nil
	return err
}
