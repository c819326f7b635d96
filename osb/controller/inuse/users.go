package inuse

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
)

// maxNamed is how many users a message names.
const maxNamed = 5

// users are the instances and bindings that refer to a class or plan.
type users struct {
	instances, bindings []client.ObjectKey
}

// referring selects what refers to an object. Only what is in its own namespace can refer to one that has a namespace.
func (k *kind) referring(o client.Object) []client.ListOption {
	return []client.ListOption{client.InNamespace(o.GetNamespace()), client.MatchingFields{k.field: o.GetName()}, client.UnsafeDisableDeepCopy}
}

// used says whether anything refers to an object.
func (k *kind) used(ctx context.Context, reader client.Reader, o client.Object) (bool, error) {
	for _, list := range []client.ObjectList{&v1beta1.ServiceInstanceList{}, &v1beta1.ServiceBindingList{}} {
		if err := reader.List(ctx, list, append(k.referring(o), client.Limit(1))...); err != nil {
			return false, cannotList(o, err)
		}
		if meta.LenList(list) > 0 {
			return true, nil
		}
	}
	return false, nil
}

// usersOf lists what refers to an object.
func (k *kind) usersOf(ctx context.Context, reader client.Reader, o client.Object) (found users, err error) {
	for list, keys := range map[client.ObjectList]*[]client.ObjectKey{
		&v1beta1.ServiceInstanceList{}: &found.instances, &v1beta1.ServiceBindingList{}: &found.bindings,
	} {
		if err := reader.List(ctx, list, k.referring(o)...); err != nil {
			return users{}, cannotList(o, err)
		}
		err := meta.EachListItem(list, func(item runtime.Object) error {
			if user, is := item.(client.Object); is {
				*keys = append(*keys, client.ObjectKeyFromObject(user))
			}
			return nil
		})
		if err != nil {
			return users{}, cannotList(o, err)
		}
	}
	return found, nil
}

func cannotList(o client.Object, err error) error {
	return fmt.Errorf("cannot list what refers to %T %q: %w", o, o.GetName(), err)
}

func (u *users) none() bool { return len(u.instances)+len(u.bindings) == 0 }

// message says what a deletion waits for. For a namespaced object it names some
// users. A cluster-scoped object is readable from all namespaces, so its
// message has only counts, and the command that lists the users.
func (u *users) message(k *kind, o client.Object) string {
	var counts []string
	if n := len(u.instances); n > 0 {
		counts = append(counts, counted(n, "instance"))
	}
	if n := len(u.bindings); n > 0 {
		counts = append(counts, counted(n, "binding"))
	}
	waits := "deletion waits for " + strings.Join(counts, " and ")
	if !k.namespaced {
		return fmt.Sprintf("%s in %s: `kubectl get serviceinstances,servicebindings -A --field-selector %s=%s` lists them",
			waits, counted(u.namespaces(), "namespace"), k.field, o.GetName())
	}
	return waits + ": " + u.names()
}

func (u *users) namespaces() int {
	all := map[string]bool{}
	for _, key := range slices.Concat(u.instances, u.bindings) {
		all[key.Namespace] = true
	}
	return len(all)
}

// names are those of the first users, instances first.
func (u *users) names() string {
	var all []string
	for _, some := range []struct {
		word string
		keys []client.ObjectKey
	}{{"instance ", u.instances}, {"binding ", u.bindings}} {
		names := make([]string, len(some.keys))
		for i, key := range some.keys {
			names[i] = some.word + key.Name
		}
		slices.Sort(names)
		all = append(all, names...)
	}
	if more := len(all) - maxNamed; more > 0 {
		all = append(all[:maxNamed], fmt.Sprintf("and %d more", more))
	}
	return strings.Join(all, ", ")
}

func counted(n int, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return fmt.Sprintf("%d %ss", n, word)
}
