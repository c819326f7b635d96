// Package complete proposes words while a person types: what there is in the
// cluster, of any kind that a command names, where the flags typed so far say to
// look. It never says what went wrong, and gives up after a few seconds.
package complete

import (
	"context"
	"errors"
	"strings"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/catalog"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
)

// Func proposes words for an argument or a flag.
type Func = cobra.CompletionFunc

// Types proposes service types, each with its default plan.
func Types(env *cli.Env) Func {
	return of(env, func(ctx context.Context, s *search) error {
		return catalog.Types(ctx, s.reader, catalog.Query{Scope: s.scope}, func(t catalog.Type) error {
			s.add(t.Object.GetName(), t.Status.DefaultPlan)
			return nil
		})
	})
}

// Classes proposes classes by the names that people call them, or by their
// Kubernetes names after --kube-name.
func Classes(env *cli.Env) Func {
	return of(env, func(ctx context.Context, s *search) error {
		return catalog.Classes(ctx, s.reader, catalog.Query{Scope: s.scope}, func(c catalog.Class) error {
			s.add(s.called(c.Object, c.Title()), c.Spec.Description)
			return nil
		})
	})
}

// Brokers proposes brokers, each with its address.
func Brokers(env *cli.Env) Func {
	return of(env, func(ctx context.Context, s *search) error {
		return catalog.Brokers(ctx, s.reader, catalog.Query{Scope: s.scope}, func(b catalog.Broker) error {
			s.add(b.Object.GetName(), b.URL())
			return nil
		})
	})
}

// Instances proposes instances of the current namespace.
func Instances(env *cli.Env) Func {
	return of(env, func(ctx context.Context, s *search) error {
		return s.list(ctx, &v1beta1.ServiceInstanceList{}, func(object runtime.Object) {
			if instance, ok := object.(*v1beta1.ServiceInstance); ok {
				s.add(instance.Name, instance.Status.LastConditionState)
			}
		}, client.InNamespace(s.namespace))
	})
}

// Bindings proposes bindings of the current namespace, each with its instance.
func Bindings(env *cli.Env) Func {
	return of(env, func(ctx context.Context, s *search) error {
		return s.list(ctx, &v1beta1.ServiceBindingList{}, func(object runtime.Object) {
			if binding, ok := object.(*v1beta1.ServiceBinding); ok {
				s.add(binding.Name, catalog.InstanceTitle(binding))
			}
		}, client.InNamespace(s.namespace))
	})
}

// Policies proposes policies for instances and for bindings, each with its action.
func Policies(env *cli.Env) Func {
	return of(env, func(ctx context.Context, s *search) error {
		return errors.Join(
			s.list(ctx, &v1beta1.ProvisioningPolicyList{}, func(object runtime.Object) {
				if policy, ok := object.(*v1beta1.ProvisioningPolicy); ok {
					s.add(policy.Name, string(policy.Spec.Action))
				}
			}),
			s.list(ctx, &v1beta1.BindingPolicyList{}, func(object runtime.Object) {
				if policy, ok := object.(*v1beta1.BindingPolicy); ok {
					s.add(policy.Name, string(policy.Spec.Action))
				}
			}),
		)
	})
}

// Namespaces proposes namespaces.
func Namespaces(env *cli.Env) Func {
	return of(env, func(ctx context.Context, s *search) error {
		return s.list(ctx, &corev1.NamespaceList{}, func(object runtime.Object) {
			if namespace, ok := object.(*corev1.Namespace); ok {
				s.add(namespace.Name, "")
			}
		})
	})
}

// Contexts proposes contexts of the kubeconfig, each with its cluster. It asks no
// cluster.
func Contexts(env *cli.Env) Func {
	return func(_ *cobra.Command, _ []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		config, err := env.Flags.ToRawKubeConfigLoader().RawConfig()
		if err != nil {
			return nil, cobra.ShellCompDirectiveError
		}
		s := &search{typed: typed, described: map[string]string{}}
		for name, to := range config.Contexts {
			s.add(name, to.Cluster)
		}
		return s.words(), cobra.ShellCompDirectiveNoFileComp
	}
}

// Words proposes fixed words, as the values of --output.
func Words(words ...string) Func {
	return cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp)
}

// called is what a person calls an object.
func (s *search) called(object client.Object, title string) string {
	if s.flag("kube-name") == "true" {
		return object.GetName()
	}
	return title
}

// list calls each with all that there is of a kind.
func (s *search) list(ctx context.Context, list client.ObjectList, each func(runtime.Object), options ...client.ListOption) error {
	return catalog.Pages(ctx, s.reader, list, func(object runtime.Object) error {
		each(object)
		return nil
	}, options...)
}

// within splits CLASS/PLAN.
func within(typed string) (class string, is bool) {
	class, _, is = strings.Cut(typed, "/")
	return class, is
}
