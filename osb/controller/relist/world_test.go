package relist

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/go-logr/logr"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	ctrllog "sigs.k8s.io/controller-runtime/pkg/log"

	corev1 "k8s.io/api/core/v1"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/e2e/stack"
	"github.com/defaultplan/defaultplan/osb"
)

// shared is a real API server with the webhook, started for the first test that needs
// it.
var shared struct {
	once  sync.Once
	stack *stack.Stack
	err   error
}

func TestMain(m *testing.M) {
	ctrllog.SetLogger(logr.Discard())
	dir, err := os.MkdirTemp("", "defaultplan-relist-")
	if err != nil {
		panic(err)
	}
	sharedDir = dir
	code := m.Run()
	if shared.stack != nil {
		err = shared.stack.Stop()
	}
	if err := errors.Join(err, os.RemoveAll(dir)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = max(code, 1)
	}
	os.Exit(code)
}

var sharedDir string

// worlds counts, so that no two tests have IDs in common.
var worlds atomic.Int32

func apiServer(t *testing.T) *stack.Stack {
	t.Helper()
	shared.once.Do(func() {
		bin := os.Getenv("DEFAULTPLAN_BIN")
		if bin == "" {
			bin = filepath.Join("..", "..", "..", "bin")
		}
		shared.stack, shared.err = stack.Start(context.WithoutCancel(t.Context()), stack.Options{Dir: filepath.Join(sharedDir, "stack"), Bin: bin, Webhooks: 1})
	})
	require.NoError(t, shared.err)
	return shared.stack
}

// A world is a broker with objects of its own on the shared API server.
type world struct {
	*testing.T

	client client.WithWatch
	engine *Engine
	broker Broker
	object client.Object
	// prefix begins the IDs of this test.
	prefix string
	// writes counts the requests that would write, refused ones too.
	writes atomic.Int32
	// reported is the progress of the last relist.
	reported []Progress
}

// newWorld has a cluster's broker, or with a namespace one there.
func newWorld(t *testing.T, namespaced bool) *world {
	t.Helper()
	w := &world{T: t, client: apiServer(t).Client(), prefix: fmt.Sprintf("t%d-", worlds.Add(1))}
	name := w.prefix + "broker"
	meta, spec := metav1.ObjectMeta{Name: name}, api.CommonServiceBrokerSpec{URL: "https://broker.example.com"}
	w.object = &api.ClusterServiceBroker{ObjectMeta: meta, Spec: api.ClusterServiceBrokerSpec{CommonServiceBrokerSpec: spec}}
	if namespaced {
		w.create(&corev1.Namespace{ObjectMeta: meta})
		meta.Namespace = name
		w.object = &api.ServiceBroker{ObjectMeta: meta, Spec: api.ServiceBrokerSpec{CommonServiceBrokerSpec: spec}}
	}
	w.create(w.object)
	var err error
	w.broker, err = BrokerOf(w.object)
	require.NoError(t, err)
	w.engine = &Engine{Client: w.counting(), Reader: w.client, Live: w.client}
	return w
}

func (w *world) counting() client.Client {
	return interceptor.NewClient(w.client, interceptor.Funcs{
		Patch: func(ctx context.Context, c client.WithWatch, object client.Object, patch client.Patch, options ...client.PatchOption) error {
			w.writes.Add(1)
			return c.Patch(ctx, object, patch, options...)
		},
		SubResourcePatch: func(ctx context.Context, c client.Client, sub string, object client.Object, patch client.Patch, options ...client.SubResourcePatchOption) error {
			w.writes.Add(1)
			return c.SubResource(sub).Patch(ctx, object, patch, options...)
		},
		Delete: func(ctx context.Context, c client.WithWatch, object client.Object, options ...client.DeleteOption) error {
			w.writes.Add(1)
			return c.Delete(ctx, object, options...)
		},
	})
}

func (w *world) create(object client.Object) {
	w.Helper()
	if err := w.client.Create(w.Context(), object); !apierrors.IsAlreadyExists(err) {
		require.NoError(w, err)
	}
}

// relist takes a catalog over and returns how many requests wrote.
func (w *world) relist(catalog *osb.Catalog) (Result, int) {
	w.Helper()
	before := w.writes.Load()
	w.reported = nil
	result, err := w.engine.Relist(w.Context(), w.broker, catalog, func(p Progress) error {
		w.reported = append(w.reported, p)
		return nil
	})
	require.NoError(w, err)
	return result, int(w.writes.Load() - before)
}

func unreported(Progress) error { return nil }

func noted() error { return nil }

// get reads an object of the broker's scope.
func get[T client.Object](w *world, object T, id string) T {
	w.Helper()
	at := client.ObjectKey{Namespace: w.broker.Namespace, Name: Name(id, w.broker.NameSuffix)}
	require.NoError(w, w.client.Get(w.Context(), at, object))
	return object
}

// catalogOf reads a catalog.
func catalogOf(t *testing.T, text string) *osb.Catalog {
	t.Helper()
	catalog := &osb.Catalog{}
	require.NoError(t, json.Unmarshal([]byte(text), catalog), text)
	return catalog
}

// sharedCatalogs are the real catalogs, by file name.
func sharedCatalogs(t *testing.T) map[string]*osb.Catalog {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("..", "..", "..", "..", "shared", "catalogs", "*.json"))
	require.NoError(t, err)
	if len(files) == 0 {
		t.Skip("../shared/catalogs is absent")
	}
	catalogs := map[string]*osb.Catalog{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		catalogs[strings.TrimSuffix(filepath.Base(file), ".json")] = catalogOf(t, string(text))
	}
	return catalogs
}

// addItem adds a plan to a list of plans.
func addItem(list client.ObjectList, object client.Object) error {
	plans, isPlans := list.(*api.ClusterServicePlanList)
	plan, isPlan := object.(*api.ClusterServicePlan)
	if isPlans && isPlan {
		plans.Items = append(plans.Items, *plan)
	}
	return nil
}
