package keeper_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/go-logr/logr/funcr"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apiruntime "k8s.io/apimachinery/pkg/runtime"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/webhook/keeper"
)

func TestNoValueOfAnInstanceIsToldOrLogged(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]error{
		"Undecided": nil,
		"Denied":    status(422, metav1.StatusReasonInvalid),
		"Failed":    status(500, metav1.StatusReasonInternalError),
		"Gone":      status(404, metav1.StatusReasonNotFound),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			mydb := ofMySQL("mydb")
			mydb.Spec.Parameters = &apiruntime.RawExtension{Raw: []byte(`{"password":"hunter2"}`)}
			inHouse(t, []client.Object{mydb}, func(ctx context.Context, h *house) {
				h.answer(func(*v1beta1.ServiceInstance) error {
					if answer == nil {
						return nil
					}
					return fmt.Errorf("hook of another: hunter2 is too short: %w", answer)
				})
				options := h.options()
				said := &lines{}
				options.Log = said.logger()
				h.keep(ctx, options)
				h.pass(time.Minute)
				require.NotEmpty(t, h.touched())
				assert.Contains(t, said.all(), "touched", "it says what it does")
				assert.NotContains(t, said.all()+strings.Join(h.told(), "\n"), "hunter2")
			})
		})
	}
}

// The API server would silently reject an event that is too long.
func TestWhatUsersAreToldFitsAnEvent(t *testing.T) {
	t.Parallel()
	unprintable := strings.Repeat("\U0010FFFF", 63)
	mydb := instance("a", "mydb", func(s *v1beta1.ServiceInstanceSpec) {
		s.ClusterServiceClassExternalName, s.ClusterServicePlanExternalName = unprintable, unprintable
	})
	inHouse(t, []client.Object{mydb}, func(ctx context.Context, h *house) {
		h.keep(ctx, h.options())
		h.pass(time.Minute)
		require.Len(t, h.told(), 1)
		_, note, _ := strings.Cut(h.told()[0], "Undecided ")
		assert.Len(t, note, 1024)
	})
}

func TestACacheThatFailsIsToldOfAndTriedAgain(t *testing.T) {
	t.Parallel()
	inHouse(t, []client.Object{ofMySQL("mydb"), binding("a", "creds", "none")}, func(ctx context.Context, h *house) {
		reader := &broken{house: h}
		reader.getting.Store(true)
		options := h.options()
		options.Client = reader
		h.keep(ctx, options)
		h.pass(time.Minute)
		require.Empty(t, h.touched())
		reader.getting.Store(false)
		h.pass(time.Minute)
		assert.Contains(t, h.touched(), "a/mydb")
		assert.Contains(t, h.touched(), "binding a/creds")
	})
}

// Who waits for what changed cannot be found out while the cache cannot be read:
// everyone is woken when it can, once, however much has changed.
func TestChangesThatWereMissedAreMadeUpFor(t *testing.T) {
	t.Parallel()
	inHouse(t, []client.Object{ofMySQL("mydb"), binding("a", "creds", "none")}, func(ctx context.Context, h *house) {
		reader := &broken{house: h}
		options := h.options()
		options.Client = reader
		said := &lines{}
		options.Log = said.logger()
		h.keep(ctx, options)
		h.pass(time.Minute)
		h.forget()
		for name, breaks := range map[string]*atomic.Bool{"getting": &reader.getting, "listing": &reader.listing} {
			breaks.Store(true)
			for n := range 20 {
				p := clusterPlan("mysql")
				p.Name = fmt.Sprintf("%s%d", name, n)
				require.NoError(t, h.Create(ctx, p))
			}
			h.pass(10 * time.Second)
			require.Empty(t, h.touched(), name)
			assert.Contains(t, said.all(), "some who wait were not woken")

			breaks.Store(false)
			h.pass(2 * time.Minute)
			assert.Equal(t, []string{"a/mydb", "a/mydb", "binding a/creds", "binding a/creds"}, h.touched(), "%s: once, and once to settle it", name)
			h.forget()
		}
	})
}

// broken is a cache that for a while cannot get, or not list.
type broken struct {
	*house

	getting, listing atomic.Bool
}

func (b *broken) Get(ctx context.Context, at client.ObjectKey, object client.Object, options ...client.GetOption) error {
	if b.getting.Load() {
		return errors.New("no informer")
	}
	return b.house.Get(ctx, at, object, options...)
}

func (b *broken) List(ctx context.Context, list client.ObjectList, options ...client.ListOption) error {
	if b.listing.Load() {
		return errors.New("no informer")
	}
	return b.house.List(ctx, list, options...)
}

// A deletion that the watch missed is found out at the next list, and told of
// with the last version that was known.
func TestADeletionThatWasMissedWakesToo(t *testing.T) {
	t.Parallel()
	inHouse(t, []client.Object{ofMySQL("mydb")}, func(ctx context.Context, h *house) {
		tap := &tapped{Cache: houseCache{h}}
		h.keepIn(ctx, h.options(), tap)
		h.pass(time.Minute)
		h.forget()
		for _, handler := range tap.handlers {
			handler.OnDelete(toolscache.DeletedFinalStateUnknown{Key: "p1", Obj: clusterPlan("mysql")})
			handler.OnDelete(toolscache.DeletedFinalStateUnknown{Key: "p1"})
		}
		h.pass(time.Second)
		assert.Contains(t, h.touched(), "a/mydb")
	})
}

// tapped keeps the handlers that are added to informers.
type tapped struct {
	cache.Cache

	mu       sync.Mutex
	handlers []toolscache.ResourceEventHandler
}

func (s *tapped) GetInformer(ctx context.Context, object client.Object, options ...cache.InformerGetOption) (cache.Informer, error) {
	informer, err := s.Cache.GetInformer(ctx, object, options...)
	return tappedInformer{informer, s}, err
}

type tappedInformer struct {
	cache.Informer

	source *tapped
}

func (i tappedInformer) AddEventHandlerWithOptions(handler toolscache.ResourceEventHandler, options toolscache.HandlerOptions) (toolscache.ResourceEventHandlerRegistration, error) {
	i.source.mu.Lock()
	defer i.source.mu.Unlock()
	i.source.handlers = append(i.source.handlers, handler)
	return i.Informer.AddEventHandlerWithOptions(handler, options)
}

func TestAnIndexThatCannotBeIsAnError(t *testing.T) {
	t.Parallel()
	err := keeper.AddIndexes(t.Context(), refusing{})
	require.EqualError(t, err, `cannot index *v1beta1.ServiceInstance by "defaultplan/waits-for": started already`)
}

type refusing struct{}

func (refusing) IndexField(_ context.Context, _ client.Object, _ string, value client.IndexerFunc) error {
	if value(&v1beta1.ServiceBinding{}) != nil {
		return errors.New("only instances wait")
	}
	return errors.New("started already")
}

// lines are what was logged, at every level.
type lines struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *lines) logger() logr.Logger {
	return funcr.New(func(prefix, args string) {
		l.mu.Lock()
		defer l.mu.Unlock()
		fmt.Fprintln(&l.text, prefix, args)
	}, funcr.Options{Verbosity: 10})
}

func (l *lines) all() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}
