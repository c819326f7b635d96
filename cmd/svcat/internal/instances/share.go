package instances

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/catalog"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/complete"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/target"
)

// share is the command.
type share struct {
	env   *cli.Env
	write cli.WriteFlags

	with, without  []string
	selector       string
	nobody, unbind bool
	// withoutSelector takes the labels away, and leaves the names.
	withoutSelector bool
	// unbindSet says that --unbind was given, possibly as false.
	unbindSet bool
	// yes is --yes; confirmed says that bindings may be deleted because of what the stored
	// sharing says.
	yes, confirmed bool
}

// NewShare returns the command `svcat share`.
func NewShare(env *cli.Env) *cobra.Command {
	s := &share{env: env}
	cmd := &cobra.Command{
		Use:   "share INSTANCE",
		Short: "Let other namespaces bind to an instance, or no more",
		Long: `Let other namespaces bind to an instance, or no more. Who binds there needs the verb
bind on the instance besides (ClusterRole servicecatalog-bind).

--with adds namespaces to those that may, --without takes some away, --with-selector
says which labels give it, --without-selector that none do, and --nobody ends it for all.

Bindings that there are stay, and say so in a condition, unless --unbind says that they
go. That is stored with the sharing (whenWithdrawn) and holds from then on, until
--unbind=false: a later --without or --nobody deletes bindings and their Secrets in other
namespaces, and asks first whether that is meant.`,
		Example: `  svcat share mydb --with shop,billing
  svcat share mydb --with-selector team=shop
  svcat share mydb --without billing
  svcat share mydb --without-selector
  svcat share mydb --nobody
  svcat share mydb --nobody --unbind`,
		Args:              cli.OneName("instance"),
		ValidArgsFunction: complete.Instances(env),
		RunE: func(cmd *cobra.Command, args []string) error {
			s.unbindSet = cmd.Flags().Changed("unbind")
			return cli.Untouched(s.run(cmd.Context(), args[0]))
		},
	}
	flags := cmd.Flags()
	flags.StringSliceVar(&s.with, "with", nil, "Namespaces that may bind, beside those that may already")
	flags.StringSliceVar(&s.without, "without", nil, "Namespaces that may bind no more")
	flags.StringVar(&s.selector, "with-selector", "", "Labels of the namespaces that may bind, such as team=shop")
	flags.BoolVar(&s.withoutSelector, "without-selector", false, "Labels let no namespace bind any more; those that are named still may")
	flags.BoolVar(&s.nobody, "nobody", false, "No other namespace may bind any more")
	flags.BoolVar(&s.unbind, "unbind", false, "Delete the bindings of namespaces that may bind no more, now and later")
	flags.BoolVarP(&s.yes, "yes", "y", false, "Do not ask whether bindings may be deleted, where an earlier --unbind says that they are")
	s.write.Bind(flags)
	complete.Flags(cmd, map[string]complete.Func{"with": complete.Namespaces(env), "without": complete.Namespaces(env)}, "with-selector")
	return cmd
}

func (s *share) validate() error {
	named := len(s.with) > 0 || len(s.without) > 0 || s.selector != "" || s.withoutSelector
	switch {
	case s.nobody && named:
		return cli.Usagef("--nobody goes without --with, --without, --with-selector and --without-selector: it ends the sharing for all")
	case s.selector != "" && s.withoutSelector:
		return cli.Usagef("--with-selector and --without-selector exclude each other")
	case !s.nobody && !named && !s.unbindSet:
		return cli.Usagef("say with whom: --with NAMESPACE, --with-selector LABELS, --without NAMESPACE, --without-selector or --nobody")
	}
	_, err := s.labels()
	return err
}

func (s *share) labels() (*metav1.LabelSelector, error) {
	if s.selector == "" {
		return nil, nil
	}
	selector, err := metav1.ParseToLabelSelector(s.selector)
	if err != nil {
		return nil, cli.Usagef("--with-selector: %w", err)
	}
	return selector, nil
}

func (s *share) run(ctx context.Context, name string) error {
	if err := cli.InOrder(s.validate, s.write.Validate); err != nil {
		return err
	}
	c, instance, err := target.Current(ctx, s.env, target.Instance, name)
	if err != nil {
		return err
	}
	if err := s.confirm(ctx, instance); err != nil {
		return err
	}
	err = cli.Whole(ctx, fmt.Sprintf("instance %q was shared", name), func(ctx context.Context) error {
		return cli.Edit(ctx, c, &s.write, instance, s.edit)
	})
	if err != nil {
		return err
	}
	return s.write.Report(s.env, instance, "instance %q is shared with %s", name, sharedWith(instance.Spec.Sharing))
}

// edit is the edit of an instance. Once the writing has begun it cannot ask any more: if
// bindings would be deleted and that was not confirmed, it fails.
func (s *share) edit(instance *v1beta1.ServiceInstance) error {
	now, err := s.change(instance.Spec.Sharing)
	if err != nil {
		return err
	}
	if !s.confirmed && s.deletesBindings(instance.Spec.Sharing, now) {
		return fmt.Errorf("the sharing of instance %q was changed meanwhile, and bindings would be deleted: nothing was changed; look at it again", instance.Name)
	}
	instance.Spec.Sharing = now
	return nil
}

// change returns the sharing that there was with the changes of the flags. It is never nil:
// admission takes an absent field for one that was forgotten, and restores it.
func (s *share) change(was *v1beta1.Sharing) (*v1beta1.Sharing, error) {
	now := &v1beta1.Sharing{}
	if was != nil {
		now = was.DeepCopy()
	}
	if s.unbindSet {
		now.WhenWithdrawn = ""
	}
	if s.unbind {
		now.WhenWithdrawn = v1beta1.WithdrawnUnbind
	}
	if s.nobody {
		now.Namespaces, now.NamespaceSelector = nil, nil
		return now, nil
	}
	for _, namespace := range s.with {
		if !slices.Contains(now.Namespaces, namespace) {
			now.Namespaces = append(now.Namespaces, namespace)
		}
	}
	now.Namespaces = slices.DeleteFunc(now.Namespaces, func(name string) bool { return slices.Contains(s.without, name) })
	selector, err := s.labels()
	if selector != nil || s.withoutSelector {
		now.NamespaceSelector = selector
	}
	return now, err
}

// sharedWith says who may bind, and what happens to the bindings of namespaces
// that no longer may.
func sharedWith(sharing *v1beta1.Sharing) string {
	who := cmp.Or(catalog.SharedWith(sharing), "no other namespace")
	if sharing.WhenWithdrawn == v1beta1.WithdrawnUnbind {
		return who + "; bindings of others are deleted"
	}
	return who + "; bindings of others stay"
}
