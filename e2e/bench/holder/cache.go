package holder

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"os"
	"reflect"
	"runtime/debug"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	goruntime "runtime"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/e2e/bench/catalog"
	"github.com/defaultplan/defaultplan/e2e/bench/measure"
	"github.com/defaultplan/defaultplan/e2e/stack/loopback"
	"github.com/defaultplan/defaultplan/webhook"
	admission "github.com/defaultplan/defaultplan/webhook/catalog"
)

// weigh is what lives on this process's heap, and what it occupies, after it
// gave back to the system what it can.
func weigh() (Holding, error) {
	// Twice: what the first run frees by finalizers, the second sweeps.
	goruntime.GC()
	debug.FreeOSMemory()
	var stats goruntime.MemStats
	goruntime.ReadMemStats(&stats)
	resident, err := measure.Memory(os.Getpid(), measure.ResidentNow)
	return Holding{Heap: float64(stats.HeapAlloc) / 1e6, Resident: resident}, err
}

// loadedCache is the cache of cmd/webhook, with its indexes and transform, filled
// with families by a watch whose objects were decoded like those of an API
// server.
func loadedCache(ctx context.Context, families []*catalog.Family) (cache.Cache, error) {
	scheme := runtime.NewScheme()
	if err := errors.Join(api.AddToScheme(scheme), corev1.AddToScheme(scheme)); err != nil {
		return nil, fmt.Errorf("cannot register the API: %w", err)
	}
	mapper, err := kinds(scheme)
	if err != nil {
		return nil, err
	}
	loaded, err := cache.New(&rest.Config{Host: "https://" + loopback.Host}, cache.Options{
		Scheme: scheme, Mapper: mapper, HTTPClient: &http.Client{}, DefaultTransform: admission.Slim,
		NewInformer: func(_ toolscache.ListerWatcher, kind runtime.Object, resync time.Duration, indexers toolscache.Indexers) toolscache.SharedIndexInformer {
			return toolscache.NewSharedIndexInformer(source(kind, families), kind, resync, indexers)
		},
	})
	if err != nil {
		return nil, fmt.Errorf("cannot make a cache: %w", err)
	}
	if err := webhook.Index(ctx, loaded); err != nil {
		return nil, err //nolint:wrapcheck // it is our own
	}
	for _, kind := range webhook.Watched() {
		if _, err := loaded.GetInformer(ctx, kind, cache.BlockUntilSynced(false)); err != nil {
			return nil, fmt.Errorf("cannot watch %T: %w", kind, err)
		}
	}
	go func() { _ = loaded.Start(ctx) }() // it ends with ctx, without an error
	if !loaded.WaitForCacheSync(ctx) {
		return nil, errors.New("cannot fill the cache")
	}
	return loaded, nil
}

// kinds maps the kinds to their resources, as discovery would.
func kinds(scheme *runtime.Scheme) (meta.RESTMapper, error) {
	mapper := meta.NewDefaultRESTMapper(nil)
	for _, object := range webhook.Watched() {
		kind, err := apiutil.GVKForObject(object, scheme)
		if err != nil {
			return nil, fmt.Errorf("cannot tell the kind of %T: %w", object, err)
		}
		scope := meta.RESTScopeNamespace
		if strings.HasPrefix(kind.Kind, "Cluster") || kind.Kind == "Namespace" {
			scope = meta.RESTScopeRoot
		}
		mapper.Add(kind, scope)
	}
	return mapper, nil
}

// source streams the objects of a kind as an API server does to a new watch.
func source(kind runtime.Object, families []*catalog.Family) toolscache.ListerWatcher {
	return &toolscache.ListWatch{
		WatchFuncWithContext: func(context.Context, metav1.ListOptions) (watch.Interface, error) {
			events := make(chan watch.Event)
			w := watch.NewProxyWatcher(events)
			go func() {
				for object := range objectsOf(kind, families) {
					select {
					case events <- watch.Event{Type: watch.Added, Object: object}:
					case <-w.StopChan():
						return
					}
				}
				events <- watch.Event{Type: watch.Bookmark, Object: bookmark(kind)}
			}()
			return w, nil
		},
	}
}

// bookmark says that all objects were sent.
func bookmark(kind runtime.Object) runtime.Object {
	mark, _ := kind.DeepCopyObject().(client.Object)
	mark.SetResourceVersion("1")
	mark.SetAnnotations(map[string]string{metav1.InitialEventsAnnotationKey: "true"})
	return mark
}

// objectsOf are the objects of a kind, each decoded from its JSON.
func objectsOf(kind runtime.Object, families []*catalog.Family) iter.Seq[runtime.Object] {
	return func(yield func(runtime.Object) bool) {
		for _, f := range families {
			for _, object := range f.Objects(kind) {
				if !yield(received(object)) {
					return
				}
			}
		}
	}
}

// stored are the managed fields of an object that a relist wrote.
const stored = `[{"manager":"defaultplan-facts","operation":"Apply","apiVersion":"servicecatalog.k8s.io/v1beta1","time":"2026-11-01T00:00:00Z","fieldsType":"FieldsV1",` +
	`"fieldsV1":{"f:spec":{"f:externalName":{},"f:externalID":{},"f:description":{},"f:free":{},"f:externalMetadata":{},"f:instanceCreateParameterSchema":{}}}}]`

// received is an object as a client decodes it: with what the API server adds,
// and with strings of its own.
func received(object client.Object) client.Object {
	kind := object.GetObjectKind().GroupVersionKind().Kind
	object.SetUID(catalog.UID(kind, object.GetName()))
	object.SetResourceVersion("1")
	object.SetGeneration(1)
	object.SetCreationTimestamp(metav1.NewTime(time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)))
	var fields []metav1.ManagedFieldsEntry
	text, err := json.Marshal(object)
	decoded, _ := reflect.TypeAssert[client.Object](reflect.New(reflect.TypeOf(object).Elem()))
	if err = errors.Join(err, json.Unmarshal(text, decoded), json.Unmarshal([]byte(stored), &fields)); err != nil {
		panic(fmt.Sprintf("cannot decode what was encoded: %v", err)) // a mistake in this file
	}
	decoded.SetManagedFields(fields)
	return decoded
}
