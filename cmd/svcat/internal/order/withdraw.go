package order

import (
	"context"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/api/equality"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
)

// deletes says that bindings elsewhere may go with a change of the sharing, and that it is
// what was stored before that says so: this command did not.
func (s *share) deletes(was, now *v1beta1.Sharing) bool {
	return !s.unbind && now.WhenWithdrawn == v1beta1.WithdrawnUnbind && withdrawn(was, now)
}

// withdrawn says that a namespace that might bind may bind no more, for all that the sharing
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

// confirm asks, before bindings elsewhere are deleted by what was said of the
// instance once, whether that is meant.
func (s *share) confirm(ctx context.Context, instance *v1beta1.ServiceInstance) error {
	now, err := s.over(instance.Spec.Sharing)
	if err != nil {
		return err
	}
	if !s.deletes(instance.Spec.Sharing, now) {
		return nil
	}
	s.agreed = s.yes || !s.write.Stores()
	if s.agreed {
		return nil
	}
	q := cli.Question{
		Where:   "taking away what deletes bindings (whenWithdrawn is Unbind)",
		Instead: "add --yes if it is meant, or --unbind=false to leave them their credentials",
		Text: fmt.Sprintf("The sharing of %s says that bindings are deleted of those who may bind no more (whenWithdrawn is Unbind): "+
			"they go now, with their Secrets; --unbind=false leaves them.", quoted("instance", instance.Name)),
	}
	err = q.Ask(ctx, s.env)
	s.agreed = err == nil
	return err
}
