package broker

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/osb"
)

// What the catalog lists no more is deleted a while after it was marked.
func TestBrokerSweeps(t *testing.T) {
	t.Parallel()
	inBothScopes(t, func(w *brokerEnv) {
		w.pass(0)
		w.answer = func(string) (*osb.Catalog, error) { return brokerCatalog(t, smallOnly, ""), nil }
		w.reconciler.ask(keyOfBroker(w.broker().object))
		assert.Equal(w, markedPause, w.pass(0).RequeueAfter)
		assert.Equal(w, 3, w.offerings())
		w.pass(markedPause)
		assert.Equal(w, 2, w.offerings())
	})
}

// movedCatalog is brokersCatalog with one of its plans in another service.
const movedCatalog = `{"services":[{"id":"db","name":"mysql","plans":[{"id":"l","name":"large"}]},{"id":"mq","name":"queue","plans":[{"id":"s","name":"small"}]}]}`

// A plan that moved to another service is made there as soon as the old one is gone, though
// its catalog is not read again by itself.
func TestBrokerPlanMoves(t *testing.T) {
	t.Parallel()
	inBothScopes(t, func(w *brokerEnv) {
		w.respec(func(s *v1beta1.CommonServiceBrokerSpec) { s.RelistBehavior = v1beta1.RelistManual })
		w.pass(0)
		w.answer = func(string) (*osb.Catalog, error) { return brokerCatalog(t, movedCatalog, ""), nil }
		w.reconciler.ask(keyOfBroker(w.broker().object))
		assert.Equal(w, markedPause, w.pass(0).RequeueAfter)
		assert.Equal(w, 3, w.offerings(), "the class waits for its plan")
		assert.Equal(w, time.Second, w.pass(markedPause).RequeueAfter, "at once")
		assert.Equal(w, 2, w.offerings())
		w.reconciler.asked = map[types.NamespacedName]bool{} // by another process
		w.pass(time.Second)
		assert.Equal(w, 4, w.offerings())
		assert.Equal(w, wellDone, w.conditions())
		asked := len(w.etags)
		w.pass(time.Minute)
		assert.Len(w, w.etags, asked)
	})
}

// A broker of which another plan moves at each read is read no more often than by any other relist.
func TestBrokerPlanMovesEachTime(t *testing.T) {
	t.Parallel()
	inBothScopes(t, func(w *brokerEnv) {
		w.respec(func(s *v1beta1.CommonServiceBrokerSpec) { s.RelistBehavior = v1beta1.RelistManual })
		read := 0
		w.answer = func(string) (*osb.Catalog, error) {
			services := map[bool]string{}
			services[read%4 == 1 || read%4 == 2] += `,{"id":"p","name":"p"}`
			services[read%4 > 1] += `,{"id":"q","name":"q"}`
			read++
			return brokerCatalog(t, fmt.Sprintf(`{"services":[{"id":"a","name":"a","plans":[{"id":"a0","name":"a0"}%s]},{"id":"b","name":"b","plans":[{"id":"b0","name":"b0"}%s]}]}`,
				services[false], services[true]), ""), nil
		}
		w.pass(0)
		w.reconciler.ask(keyOfBroker(w.broker().object))
		for end := w.clock.Now().Add(time.Hour); w.clock.Now().Before(end); {
			w.pass(time.Second)
			w.events() // the recorder holds few
		}
		assert.Greater(w, read, 40, "it is read each time that a name is free")
		assert.LessOrEqual(w, read, 63)
	})
}

// The process may end between the deletion of a plan that moved and the relist that makes it again, or
// the deletion may be refused.
func TestBrokerPlanMovesAtATrouble(t *testing.T) {
	t.Parallel()
	trouble := errors.New("here it ends")
	for name, tc := range map[string]struct {
		deletion func(func() error) error
		// then is what comes of the next sweep.
		then error
		// offerings are there when the catalog was read again.
		offerings int
	}{
		"Crash":   {deletion: func(carryOut func() error) error { return errors.Join(carryOut(), trouble) }, offerings: 4},
		"Refused": {deletion: func(func() error) error { return trouble }, then: trouble, offerings: 3},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBothScopes(t, func(w *brokerEnv) {
				w.respec(func(s *v1beta1.CommonServiceBrokerSpec) { s.RelistBehavior = v1beta1.RelistManual })
				w.pass(0)
				w.answer = func(string) (*osb.Catalog, error) { return brokerCatalog(t, movedCatalog, ""), nil }
				w.reconciler.ask(keyOfBroker(w.broker().object))
				w.pass(0)
				w.deletion = tc.deletion
				later := func(after time.Duration) error {
					w.clock.SetTime(w.clock.Now().Add(after))
					_, err := w.reconciler.Reconcile(t.Context(), reconcile.Request{NamespacedName: w.at})
					return err
				}
				require.ErrorIs(w, later(markedPause), trouble)
				w.reconciler.asked = map[types.NamespacedName]bool{}
				asked := len(w.etags)
				require.ErrorIs(w, later(sweepPause-time.Second), tc.then)
				assert.Len(w, w.etags, asked, "a refusal does not have it read over and over")
				w.pass(time.Second)
				assert.Len(w, w.etags, asked+1)
				assert.Equal(w, tc.offerings, w.offerings())
			})
		})
	}
}

// A catalog that has other plans at each read keeps none of them for longer than two reads.
func TestBrokerCatalogShrinksEachTime(t *testing.T) {
	t.Parallel()
	inBothScopes(t, func(w *brokerEnv) {
		w.respec(func(s *v1beta1.CommonServiceBrokerSpec) { s.RelistBehavior = v1beta1.RelistManual })
		read := 0
		w.answer = func(string) (*osb.Catalog, error) {
			read++
			return brokerCatalog(t, strings.ReplaceAll(`{"services":[{"id":"db","name":"mysql","plans":[{"id":"p0#","name":"p0#"},{"id":"p1#","name":"p1#"},{"id":"p2#","name":"p2#"}]}]}`, "#", strconv.Itoa(read)), ""), nil
		}
		w.pass(0)
		w.reconciler.ask(keyOfBroker(w.broker().object))
		w.pass(time.Second)
		for range 5 {
			w.pass(shrankPause)
			assert.Contains(w, w.conditions(), "CatalogShrank=True")
			assert.Equal(w, 1+3+3, w.offerings(), "the class, and the plans of two reads")
		}
		assert.Equal(w, 7, read)
	})
}

// A catalog of which something else cannot be taken is not read again for what is swept.
func TestBrokerSweepsWithoutARelist(t *testing.T) {
	t.Parallel()
	const wrong = `{"services":[{"id":"db","name":"mysql","plans":[{"id":"s","name":"small"},{"id":"","name":"none"}]}]}`
	inBothScopes(t, func(w *brokerEnv) {
		w.respec(func(s *v1beta1.CommonServiceBrokerSpec) { s.RelistBehavior = v1beta1.RelistManual })
		w.pass(0)
		w.answer = func(string) (*osb.Catalog, error) { return brokerCatalog(t, wrong, ""), nil }
		w.reconciler.ask(keyOfBroker(w.broker().object))
		w.pass(0)
		require.Contains(w, w.conditions(), "CatalogComplete=False/PartsSkipped")
		asked := len(w.etags)
		w.pass(markedPause)
		assert.Equal(w, 2, w.offerings())
		w.pass(time.Hour)
		assert.Len(w, w.etags, asked)
	})
}

// Of a broker that is being deleted it is not said that its catalog is read again.
func TestBrokerThatShrankIsDeleted(t *testing.T) {
	t.Parallel()
	inBothScopes(t, func(w *brokerEnv) {
		w.pass(0)
		w.answer = func(string) (*osb.Catalog, error) { return &osb.Catalog{}, nil }
		w.reconciler.ask(keyOfBroker(w.broker().object))
		w.pass(0)
		require.Contains(w, w.conditions(), "CatalogShrank=True")
		w.instance("i", func(i *v1beta1.ServiceInstance) {
			i.Spec.ClusterServiceClassRef = &v1beta1.ClusterObjectReference{Name: "db"}
			if w.namespaced {
				i.Spec.ClusterServiceClassRef, i.Spec.ServiceClassRef = nil, &v1beta1.LocalObjectReference{Name: "db"}
			}
		})
		require.NoError(w, w.client.Delete(w.Context(), w.broker().object))
		w.pass(0)
		assert.NotContains(w, w.conditions(), "CatalogShrank")
	})
}

// smallOnly is brokersCatalog without one of its plans.
const smallOnly = `{"services":[{"id":"db","name":"mysql","plans":[{"id":"s","name":"small"}]}]}`

// A catalog that lost more than half is marked at once, told, and read again after a
// minute; only what it then lists no more is deleted.
func TestBrokerCatalogShrinks(t *testing.T) {
	t.Parallel()
	const shrank = "CatalogComplete=True/FetchedCatalog CatalogShrank=True/CatalogShrank Ready=True/FetchedCatalog"
	empty := func(string) (*osb.Catalog, error) { return &osb.Catalog{}, nil }
	down := func(string) (*osb.Catalog, error) { return nil, &osb.Error{Kind: osb.NeverSent} }
	inBothScopes(t, func(w *brokerEnv) {
		w.respec(func(s *v1beta1.CommonServiceBrokerSpec) { s.RelistBehavior = v1beta1.RelistManual })
		w.pass(0)
		whole := w.answer
		w.events()
		for _, back := range []bool{true, false} {
			w.answer = empty
			w.reconciler.ask(keyOfBroker(w.broker().object))
			asked := len(w.etags)
			assert.Equal(w, markedPause, w.pass(0).RequeueAfter)
			assert.Equal(w, shrank, w.conditions())
			told, _ := v1beta1.FindCondition(w.broker().Status.Conditions, v1beta1.ConditionCatalogShrank)
			assert.Equal(w, "3 of the 3 classes and plans that were there are missing in the catalog: they are marked, and deleted only if they are still missing when it is read again after a minute", told.Message)
			assert.Equal(w, "Warning CatalogShrank", w.events())
			w.pass(markedPause)
			assert.Equal(w, 3, w.offerings())
			w.answer = down
			w.respec(func(s *v1beta1.CommonServiceBrokerSpec) { s.RelistRequests++ })
			w.pass(time.Second)
			w.pass(time.Second)
			assert.Equal(w, 3, w.offerings(), "a catalog that cannot be read confirms nothing")
			w.answer = empty
			w.pass(5 * time.Second)
			w.pass(markedPause)
			assert.Equal(w, 3, w.offerings(), "nor does one that is read too early")
			assert.Equal(w, shrank, w.conditions())
			assert.Len(w, w.etags, asked+3)
			if back {
				w.answer = whole
			}
			w.pass(time.Minute)
			assert.Len(w, w.etags, asked+4)
			assert.Equal(w, wellDone, w.conditions())
			assert.Nil(w, w.broker().Status.NextRetry)
			w.pass(markedPause)
			w.events()
			assert.Equal(w, map[bool]int{true: 3, false: 0}[back], w.offerings())
		}
	})
}

// A process that ends while it marks leaves behind that the catalog is to be read again.
func TestBrokerCatalogShrinksInACrash(t *testing.T) {
	t.Parallel()
	inBothScopes(t, func(w *brokerEnv) {
		w.pass(0)
		w.answer = func(string) (*osb.Catalog, error) { return &osb.Catalog{}, nil }
		w.reconciler.ask(keyOfBroker(w.broker().object))
		w.statuses = 0
		w.refuseStatus = func() bool { return w.statuses > 1 }
		_, err := w.reconciler.Reconcile(w.Context(), reconcile.Request{NamespacedName: w.at})
		require.ErrorContains(w, err, "cannot write the status")
		w.refuseStatus = nil
		w.reconciler.begins(w.at)
		w.pass(markedPause)
		assert.Equal(w, 3, w.offerings())
		asked := len(w.etags)
		w.pass(time.Minute)
		assert.Len(w, w.etags, asked+1)
		w.pass(markedPause)
		assert.Zero(w, w.offerings())
	})
}

// offerings counts the classes and plans that there are.
func (w *brokerEnv) offerings() int {
	count := 0
	for _, list := range []client.ObjectList{&v1beta1.ClusterServiceClassList{}, &v1beta1.ServiceClassList{}, &v1beta1.ClusterServicePlanList{}, &v1beta1.ServicePlanList{}} {
		require.NoError(w, w.client.List(w.Context(), list))
		items, err := meta.ExtractList(list)
		require.NoError(w, err)
		count += len(items)
	}
	return count
}

func (w *brokerEnv) instance(name string, change func(*v1beta1.ServiceInstance)) *v1beta1.ServiceInstance {
	w.Helper()
	i := &v1beta1.ServiceInstance{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: name}}
	change(i)
	require.NoError(w, w.client.Create(w.Context(), i))
	return i
}

// A deletion marks at once, waits while instances exist at the broker, by whatever they
// are known to, names them, and then takes plans, classes and the finalizer.
func TestBrokerDeletion(t *testing.T) {
	t.Parallel()
	inBothScopes(t, func(w *brokerEnv) {
		w.pass(0)
		w.events()
		copied := &v1beta1.ServicePlan{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: "copy"}, Spec: v1beta1.ServicePlanSpec{ClusterServiceBrokerName: "b", ServiceClassRef: v1beta1.LocalObjectReference{Name: "x"}}}
		byClass := w.instance("by-class", func(i *v1beta1.ServiceInstance) {
			i.Spec.ClusterServiceClassRef = &v1beta1.ClusterObjectReference{Name: "db"}
			if w.namespaced {
				i.Spec.ClusterServiceClassRef, i.Spec.ServiceClassRef = nil, &v1beta1.LocalObjectReference{Name: "db"}
				copied.Spec.ClusterServiceBrokerName, copied.Spec.ServiceBrokerName = "", "b"
			}
		})
		require.NoError(w, w.client.Create(w.Context(), copied))
		byCopy := w.instance("by-copy", func(i *v1beta1.ServiceInstance) {
			i.Spec.ServicePlanRef = &v1beta1.LocalObjectReference{Name: "copy"}
		})
		byTarget := w.instance("by-target", func(i *v1beta1.ServiceInstance) {
			i.Status.InProgressProperties = &v1beta1.ServiceInstancePropertiesState{BrokerTarget: v1beta1.BrokerTarget{ClusterServiceBrokerName: "b"}}
			if w.namespaced {
				i.Status.InProgressProperties.BrokerTarget = v1beta1.BrokerTarget{ServiceBrokerName: "b"}
			}
		})
		w.instance("of-another", func(i *v1beta1.ServiceInstance) {
			i.Status.ExternalProperties = &v1beta1.ServiceInstancePropertiesState{BrokerTarget: v1beta1.BrokerTarget{ClusterServiceBrokerName: "c", ServiceBrokerName: ""}}
		})
		require.NoError(w, w.client.Delete(w.Context(), w.broker().object))
		w.marked = nil
		assert.Equal(w, instancesPause, w.pass(0).RequeueAfter)
		require.Len(w, w.marked, 4)
		assert.Contains(w, w.marked[0], "ServiceClass", "no plan of a class that is marked is chosen")
		ready, _ := v1beta1.FindCondition(w.broker().Status.Conditions, v1beta1.ConditionReady)
		assert.Equal(w, "deletion waits for 3 instances at the broker: n/by-class, n/by-copy, n/by-target", ready.Message)
		assert.Equal(w, "Warning DeletionBlockedByInstances", w.events())
		require.NoError(w, w.client.Get(w.Context(), client.ObjectKeyFromObject(copied), copied))
		assert.True(w, copied.Status.RemovedFromBrokerCatalog, "nothing new is provisioned from it")
		writes := w.writes
		w.pass(instancesPause)
		assert.Equal(w, writes, w.writes)
		assert.Empty(w, w.events())
		for _, i := range []client.Object{byClass, byCopy, byTarget} {
			assert.Equal(w, instancesPause, w.pass(instancesPause).RequeueAfter)
			require.NoError(w, w.client.Delete(w.Context(), i))
		}
		w.events()
		assert.Zero(w, w.pass(instancesPause).RequeueAfter)
		assert.Equal(w, 1, w.offerings(), "what is user-defined stays")
		err := w.client.Get(w.Context(), w.at, w.emptyBroker())
		assert.True(w, apierrors.IsNotFound(err))
		assert.Equal(w, map[bool]string{false: "Normal DeletedClusterServiceBrokerSuccessfully", true: "Normal DeletedSuccessfully"}[w.namespaced], w.events())
		assert.Len(w, w.etags, 1, "a broker that goes is not asked for its catalog")
	})
}

// Of many classes and plans status says how many are marked, also while a broker goes.
func TestBrokerDeletionTellsHowFarItIs(t *testing.T) {
	t.Parallel()
	inBothScopes(t, func(w *brokerEnv) {
		w.pass(0)
		for i := range 500 {
			plan := &v1beta1.ServicePlan{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: fmt.Sprintf("own-%d", i)}, Spec: v1beta1.ServicePlanSpec{ClusterServiceBrokerName: "b"}}
			if w.namespaced {
				plan.Spec.ClusterServiceBrokerName, plan.Spec.ServiceBrokerName = "", "b"
			}
			require.NoError(w, w.client.Create(w.Context(), plan))
		}
		w.instance("i", func(i *v1beta1.ServiceInstance) { i.Spec.ServicePlanRef = &v1beta1.LocalObjectReference{Name: "own-7"} })
		require.NoError(w, w.client.Delete(w.Context(), w.broker().object))
		w.progress, w.marked = nil, nil
		w.pass(0)
		assert.Len(w, w.marked, 503)
		assert.Equal(w, []string{
			"the broker is being deleted: 0 of its 503 classes and plans are marked", "the broker is being deleted: 500 of its 503 classes and plans are marked",
			"the broker goes when they are gone",
		}, w.progress)
	})
}

// A deletion ends the relist under way, whether its event comes during the fetch or came before.
func TestBrokerDeletionEndsItsRelist(t *testing.T) {
	t.Parallel()
	inBothScopes(t, func(w *brokerEnv) {
		w.pass(0)
		w.respec(func(s *v1beta1.CommonServiceBrokerSpec) { s.RelistRequests++ })
		stale, fetched := w.broker(), 0
		w.reconciler.Fetch = func(ctx context.Context, o client.Object, _ string) (*osb.Catalog, error) {
			fetched++
			if fetched == 1 {
				require.NoError(w, w.client.Delete(w.Context(), w.broker().object))
				byDeletion(w.reconciler).Update(w.Context(), event.UpdateEvent{ObjectOld: o, ObjectNew: w.broker().object}, nil)
			}
			<-ctx.Done()
			return nil, ctx.Err()
		}
		w.statuses, w.marked = 0, nil
		assert.Zero(w, w.pass(0), "its deletion brings the next pass")
		result, err := w.reconciler.relist(w.Context(), stale, w.clock.Now())
		require.NoError(w, err)
		assert.Zero(w, result)
		assert.Equal(w, 2, fetched)
		assert.Zero(w, w.statuses, "of a broker that goes no failure is told")
		assert.Empty(w, w.reconciler.relists)
		w.pass(0)
		assert.Len(w, w.marked, 3)
	})
}

// What was never used goes as soon as admission can have heard of the mark.
func TestUnusedBrokerIsDeletedSoon(t *testing.T) {
	t.Parallel()
	inBothScopes(t, func(w *brokerEnv) {
		w.pass(0)
		require.NoError(w, w.client.Delete(w.Context(), w.broker().object))
		assert.Equal(w, time.Second, w.pass(0).RequeueAfter)
		assert.Equal(w, 3, w.offerings(), "an instance that is just being admitted keeps its plan")
		assert.Zero(w, w.pass(time.Second))
		assert.Zero(w, w.offerings())
		assert.True(w, apierrors.IsNotFound(w.client.Get(w.Context(), w.at, w.emptyBroker())))
	})
}

// A removal at a broker that is being deleted may have to know whether the broker answers.
func TestBrokerIsProbedDuringItsDeletion(t *testing.T) {
	t.Parallel()
	inBothScopes(t, func(w *brokerEnv) {
		w.pass(0)
		w.instance("i", func(i *v1beta1.ServiceInstance) {
			i.Spec.ClusterServiceClassRef = &v1beta1.ClusterObjectReference{Name: "db"}
			if w.namespaced {
				i.Spec.ClusterServiceClassRef, i.Spec.ServiceClassRef = nil, &v1beta1.LocalObjectReference{Name: "db"}
			}
		})
		require.NoError(w, w.client.Delete(w.Context(), w.broker().object))
		w.pass(0)
		w.events()
		writes := w.writes
		for _, answer := range []func(string) (*osb.Catalog, error){
			func(string) (*osb.Catalog, error) { return &osb.Catalog{}, nil },
			func(string) (*osb.Catalog, error) { return nil, &osb.Error{Kind: osb.NeverSent} },
		} {
			w.answer, w.etags = answer, nil
			w.reconciler.ask(keyOfBroker(w.broker().object))
			assert.Equal(w, instancesPause, w.pass(0).RequeueAfter)
			assert.Equal(w, []string{""}, w.etags)
			w.pass(instancesPause)
			assert.Len(w, w.etags, 1, "once")
		}
		assert.Equal(w, writes, w.writes, "nothing of the catalog is taken over")
		assert.Empty(w, w.events())
	})
}
