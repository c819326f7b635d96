package export

import (
	"cmp"
	"context"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/moving"
)

// An untyped is an API server that stores objects as they are, as that of the retired catalog does: by the
// last part of their list's path, and their place.
type untyped map[string]map[string]map[string]any

// serves starts it, and returns its client.
func (u untyped) serves(t *testing.T) client.Client {
	t.Helper()
	server := httptest.NewServer(u)
	t.Cleanup(server.Close)
	scheme, err := cli.Scheme()
	require.NoError(t, err)
	mapper := apimeta.NewDefaultRESTMapper(nil)
	for kind := range scheme.AllKnownTypes() {
		scope := apimeta.RESTScopeNamespace
		if strings.HasPrefix(kind.Kind, "Cluster") || kind.Kind == "Namespace" {
			scope = apimeta.RESTScopeRoot
		}
		mapper.Add(kind, scope)
	}
	c, err := client.New(&rest.Config{Host: server.URL}, client.Options{Scheme: scheme, Mapper: mapper})
	require.NoError(t, err)
	return c
}

// add stores an object, with some fields otherwise.
func (u untyped) add(t *testing.T, object client.Object, fields map[string]any) {
	t.Helper()
	kind := moving.KindOf(object)
	object.GetObjectKind().SetGroupVersionKind(v1beta1.GroupVersion.WithKind(kind))
	raw, err := json.Marshal(object)
	require.NoError(t, err)
	stored := map[string]any{}
	require.NoError(t, json.Unmarshal(raw, &stored))
	spec, _ := stored["spec"].(map[string]any)
	maps.Copy(spec, fields)
	resource, _ := apimeta.UnsafeGuessKindToResource(schema.GroupVersionKind{Kind: kind})
	if u[resource.Resource] == nil {
		u[resource.Resource] = map[string]map[string]any{}
	}
	u[resource.Resource][object.GetNamespace()+"/"+object.GetName()] = stored
}

func (u untyped) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	_, path, ours := strings.Cut(request.URL.Path, "/v1beta1/")
	namespace := ""
	if rest, within := strings.CutPrefix(path, "namespaces/"); within {
		namespace, path, _ = strings.Cut(rest, "/")
	}
	resource, name, single := strings.Cut(path, "/")
	w.Header().Set("Content-Type", "application/json")
	if single || !ours {
		object, is := u[resource][namespace+"/"+name]
		if !is {
			w.WriteHeader(http.StatusNotFound)
			object = map[string]any{"apiVersion": "v1", "kind": "Status", "status": "Failure", "reason": "NotFound", "code": http.StatusNotFound}
		}
		answer(w, object)
		return
	}
	bare := strings.Contains(request.Header.Get("Accept"), "as=PartialObjectMetadataList")
	list := map[string]any{"apiVersion": v1beta1.GroupVersion.String(), "kind": "List", "metadata": map[string]any{}}
	if bare {
		list["apiVersion"], list["kind"] = "meta.k8s.io/v1", "PartialObjectMetadataList"
	}
	items := []any{}
	for at, object := range u[resource] {
		if namespace != "" && !strings.HasPrefix(at, namespace+"/") {
			continue
		}
		if bare {
			object = map[string]any{"apiVersion": "meta.k8s.io/v1", "kind": "PartialObjectMetadata", "metadata": object["metadata"]}
		}
		items = append(items, object)
	}
	list["items"] = items
	answer(w, list)
}

func answer(w io.Writer, object map[string]any) {
	text, err := json.Marshal(object)
	if err != nil {
		panic(err) // it was decoded
	}
	_, _ = w.Write(text)
}

// TestGatherUnreadable: an object of which a field is not of its type keeps no other object out of a file,
// but for one with the same ID at the broker.
func TestGatherUnreadable(t *testing.T) {
	t.Parallel()
	stored := untyped{}
	for _, object := range catalogOfOld() {
		stored.add(t, object, nil)
	}
	own := &v1beta1.ServicePlan{}
	own.Namespace, own.Name = "hostile", "own"
	odd := instanceOf("hostile", "odd")
	odd.Spec.ClusterServiceClassRef, odd.Spec.ClusterServicePlanRef = nil, nil
	odd.Spec.ServiceClassRef, odd.Spec.ServicePlanRef = &v1beta1.LocalObjectReference{Name: "own"}, &v1beta1.LocalObjectReference{Name: "own"}
	stored.add(t, own, map[string]any{"free": "yes"})
	stored.add(t, odd, nil)
	for name, object := range map[string]client.Object{"db": instanceOf("shop", "db"), "app": bindingOf("shop", "app", "db"), "mail": instanceOf("shop", "mail")} {
		require.Equal(t, name, object.GetName())
		stored.add(t, object, nil)
	}
	stored.add(t, instanceOf("hostile", "poison"), map[string]any{"updateRequests": "canary"})
	stored.add(t, bindingOf("hostile", "poison", "db"), map[string]any{"instanceRef": 5})
	stored.add(t, instanceOf("hostile", "thief"), map[string]any{"externalID": "id-of-mail", "updateRequests": "canary"})
	const (
		wrong = " is not in the file, and cannot be moved: a field is not of its type; correct it on the old side, then export again"
		twin  = "ServiceInstance shop/mail is not in the file, and neither it nor what needs it can be moved: ServiceInstance hostile/thief has the same ID at the broker; let one of the two go on the old side, without a call to the broker, then export again"
	)
	for namespace, want := range map[string]struct {
		instances string
		notes     []string
	}{
		"": {"hostile/odd shop/db", []string{
			"ServiceInstance hostile/poison" + wrong, "ServiceInstance hostile/thief" + wrong, "ServiceBinding hostile/poison" + wrong,
			"ServicePlan hostile/own is not in the file, and what needs it cannot be moved: a field is not of its type; correct it on the old side, then export again",
			"ServiceClass hostile/own is not there any more: what needs it cannot be moved", twin,
		}},
		"shop": {"shop/db", []string{twin}},
	} {
		g := newGatherer(stored.serves(t))
		got, err := g.gather(t.Context(), namespace, false)
		require.NoError(t, err)
		assert.ElementsMatch(t, strings.Fields(want.instances), strings.Fields(names(got.Instances)))
		assert.Equal(t, "shop/app", names(got.Bindings))
		assert.ElementsMatch(t, want.notes, g.notes)
	}
}

// TestHeldUnread: a binding that cannot be read holds back its instance alone, or those of its namespace
// where it does not say which.
func TestHeldUnread(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason string
		ref    any
		held   []string
	}{
		"Named":   {"it says which", map[string]any{"name": "db"}, []string{"db"}},
		"Unnamed": {"it may be any", map[string]any{"name": 5, "namespace": "shop"}, []string{"db", "mail"}},
		"Foreign": {"its own namespace alone, if it does not say which", map[string]any{"namespace": "other"}, []string{"db", "mail"}},
		"Other":   {"it is another's", map[string]any{"name": "else"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			stored := untyped{}
			stored.add(t, bindingOf("shop", "poison", "db"), map[string]any{"instanceRef": tc.ref, "secretName": 5})
			stored.add(t, bindingOf("shop", "fine", "another"), nil)
			stored.add(t, bindingOf("hostile", "nameless", ""), map[string]any{"instanceRef": map[string]any{"namespace": "shop"}})
			r := &releaser{old: stored.serves(t), holders: map[string]map[types.NamespacedName]string{}, leaves: map[types.NamespacedName]bool{}}
			for _, instance := range []string{"db", "mail"} {
				held, err := r.bound(t.Context(), instanceOf("shop", instance))
				require.NoError(t, err)
				want := ""
				for _, one := range tc.held {
					if one == instance {
						want = "binding shop/poison still uses it on the old side"
					}
				}
				assert.Equal(t, want, held, "%s: %s", instance, tc.reason)
			}
		})
	}
}

// TestABrokenConnectionIsNoWrongType: a read that failed says nothing about the object.
func TestABrokenConnectionIsNoWrongType(t *testing.T) {
	t.Parallel()
	broken := func(object any) error {
		switch object.(type) {
		case *v1beta1.ServiceInstanceList, *v1beta1.ServiceInstance:
			return io.ErrUnexpectedEOF
		}
		return nil
	}
	c := interceptor.NewClient(readOnly(t, append(catalogOfOld(), instanceOf("shop", "db"))...).(client.WithWatch), interceptor.Funcs{
		List: func(ctx context.Context, inner client.WithWatch, list client.ObjectList, options ...client.ListOption) error {
			return cmp.Or(broken(list), inner.List(ctx, list, options...))
		},
		Get: func(ctx context.Context, inner client.WithWatch, at client.ObjectKey, object client.Object, options ...client.GetOption) error {
			return cmp.Or(broken(object), inner.Get(ctx, at, object, options...))
		},
	})
	_, err := newGatherer(c).gather(t.Context(), "", false)
	require.ErrorIs(t, err, io.ErrUnexpectedEOF)
}
