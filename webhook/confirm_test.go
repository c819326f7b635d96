package webhook

import (
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/defaultplan/defaultplan/webhook/catalog"
	"github.com/defaultplan/defaultplan/webhook/instance"
)

// However many are refused at once, each live list is under way once, and the next one serves all who came meanwhile.
func TestRefusalsShareTheirLists(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason, spec string
		lists        int // different ones
	}{
		"Selector":       {"All of the catalog, in both scopes, and the policies.", `{"planSelector":{"matchLabels":{"no":"such"}}}`, 5},
		"TypeOfSelector": {"A type's classes and plans, in both scopes, the plans of its class, and the policies.", `{"serviceType":"mysql","planSelector":{"matchLabels":{"no":"such"}}}`, 6},
		"Type":           {"The same.", `{"serviceType":"mysql"}`, 5},
		"Class":          {"The classes so named, and their plans.", `{"clusterServiceClassExternalName":"db"}`, 2},
		"Plan":           {"The same.", `{"clusterServiceClassExternalName":"db","clusterServicePlanExternalName":"none","serviceType":"redis"}`, 2},
		"PlanByName":     {"The same.", `{"clusterServiceClassName":"db","clusterServicePlanName":"none","serviceType":"redis"}`, 1},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := stocked(t, "mysql/db: small large").env()
				release := make(chan struct{})
				w.live.fail(func(read string) error {
					if strings.HasPrefix(read, "list ") {
						<-release
					}
					return nil
				})
				var wg sync.WaitGroup
				for range 100 {
					request := &admission.Request{AdmissionRequest: *w.review(instanceOf(tc.spec), nil).Request}
					wg.Go(func() {
						_, err := (&instance.Handler{Tools: w.shared}).Mutate(t.Context(), request)
						assert.NoError(t, err)
					})
				}
				synctest.Wait()
				for list, n := range listsOf(w.live.taken()) {
					assert.Equal(t, 1, n, "under way: %s", list)
				}
				close(release)
				wg.Wait()
				for list, n := range listsOf(w.live.taken()) {
					if list != "list ProvisioningPolicyList" { // asked once the catalog is there, when nothing holds reads up any more
						assert.Less(t, n, 10, list)
					}
				}
				w.create(tc.spec)
				assert.Len(t, listsOf(w.live.taken()), tc.lists, tc.reason)
			})
		})
	}
}

func listsOf(reads []string) map[string]int {
	lists := map[string]int{}
	for _, read := range reads {
		if strings.HasPrefix(read, "list ") {
			lists[read]++
		}
	}
	return lists
}

// A choice is filled with the defaults of the plan and class that were chosen, not of what the cache still has.
func TestDefaultsOfTheChoice(t *testing.T) {
	t.Parallel()
	const refetched = "get ClusterServicePlan /db-small"
	cases := map[string]struct {
		reason       string
		cached, live *stock
		spec         string
		want         string // the parameters
		refetches    bool
		stale        bool
	}{
		"PlanBehind": {
			reason: "The default and its parameters were stored just now.",
			cached: stocked(t, "mysql/db: small large", planDefaults("db-small", `{"size":1}`)),
			live:   stocked(t, "mysql/db: small* large", planDefaults("db-small", `{"size":5}`), revised("db-small", isPlan)),
			spec:   byType, want: `{"size":5}`, refetches: true,
		},
		"ClassBehind": {
			reason: "Or only its class's.",
			cached: stocked(t, db, classDefaults("db", `{"size":1}`)),
			live:   stocked(t, db, classDefaults("db", `{"size":5}`), revised("db", isClass)),
			spec:   byType, want: `{"size":5}`, refetches: true, stale: true,
		},
		"BothOfTheCache": {
			reason: "A choice by type is filled by what the cache has, as it was chosen there.",
			cached: stocked(t, "mysql/db: small^ large", classDefaults("db", `{"size":1}`)),
			live:   stocked(t, "mysql/db: small^ large", classDefaults("db", `{"size":5}`), revised("db", isClass)),
			spec:   byType, want: `{"size":1}`,
		},
		"UpToDate": {
			reason: "A live choice of what the cache has is filled from there.",
			cached: stocked(t, db, planDefaults("db-small", `{"size":1}`)), live: stocked(t, db, planDefaults("db-small", `{"size":1}`)),
			spec: byType, want: `{"size":1}`, stale: true,
		},
		"Confirmed": {
			reason: "What the cache would have refused is filled live.",
			cached: stocked(t, "mysql/db: small large", planDefaults("db-small", `{"size":1}`)),
			live:   stocked(t, "mysql/db: small* large", planDefaults("db-small", `{"size":5}`), revised("db-small", isPlan)),
			spec:   `{"clusterServiceClassExternalName":"db"}`, want: `{"size":5}`, refetches: true,
		},
		"Cached": {
			reason: "A choice of the cache is filled by the cache.",
			cached: stocked(t, db, planDefaults("db-small", `{"size":1}`)),
			live:   stocked(t, db, planDefaults("db-small", `{"size":5}`), revised("db-small", isPlan)),
			spec:   byName, want: `{"size":1}`,
		},
		"Recorded": {
			reason: "So is a recorded plan that is found there.",
			cached: stocked(t, "mysql/db: small^", planDefaults("db-small", `{"size":1}`)),
			live:   stocked(t, "mysql/db: small^", planDefaults("db-small", `{"size":5}`), revised("db-small", isPlan)),
			spec:   byType, want: `{"size":1}`,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := envOf(t, tc.cached, tc.live)
			w.cacheIsCurrent = !tc.stale
			assert.JSONEq(t, tc.want, at(t, w.created(tc.spec), "/spec/parameters"), tc.reason)
			assert.Equal(t, tc.refetches, strings.Contains(strings.Join(w.live.taken(), "\n"), refetched), tc.reason)
		})
	}
}

// revised makes a stock's object a later state than it has elsewhere.
func revised(name string, want func(client.Object) bool) func(*stock) {
	return func(s *stock) { s.object(name, want).SetResourceVersion("1000") }
}

// A plan that changes hands between the choice and its reading is not mixed up: the write is tried again.
func TestChosenPlanChangesHands(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason string
		then   *stock
	}{
		"OtherUID":   {"Another plan took its name.", stocked(t, db, func(s *stock) { s.object("db-small", isPlan).SetUID("another") })},
		"OtherClass": {"It went to another class.", stocked(t, "mysql/db: large;mysql/other: small@db-small*")},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := envOf(t, stocked(t, "other:"), stocked(t, db))
			w.live.fail(func(read string) error {
				if read == "get ClusterServicePlan /db-small" {
					w.live.show(tc.then)
				}
				return nil
			})
			request := &admission.Request{AdmissionRequest: *w.review(instanceOf(byType), nil).Request}
			_, err := (&instance.Handler{Tools: w.shared}).Mutate(t.Context(), request)
			require.ErrorContains(t, err, "try once more", tc.reason)
		})
	}
}

// A denial that is decided by the cache, because the namespace exceeds its
// rate, says so on every path.
func TestUnconfirmedIsTold(t *testing.T) {
	t.Parallel()
	const classOnly = `{"clusterServiceClassExternalName":"db"}`
	const backup = `{"externalID":"e","clusterServicePlanExternalName":"large","clusterServiceClassRef":{"name":"db"},"clusterServicePlanRef":{"name":"db-small"}}`
	renamed := stocked(t, "mysql/db: large@db-small*")
	cases := map[string]struct {
		reason       string
		cached, live *stock
		write        func(*env) func() *outcome
	}{
		"Resolve": {
			reason: "The choice.", cached: stocked(t, "other:"), live: stocked(t, db),
			write: func(w *env) func() *outcome { return func() *outcome { return w.create(classOnly) } },
		},
		"Validate": {
			reason: "The judgement of what will be stored.", cached: stocked(t, "mysql/db: small large", fixedPlans), live: stocked(t, "mysql/db: small large"),
			write: func(w *env) func() *outcome {
				stored := w.created(byName)
				return func() *outcome {
					return w.write(changed(t, stored, `{"spec":{"clusterServicePlanExternalName":"large"}}`), stored)
				}
			},
		},
		"Restored": {
			reason: "And of a backup.", cached: stocked(t, db), live: renamed,
			write: func(w *env) func() *outcome { return func() *outcome { return w.create(backup) } },
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := envOf(t, tc.cached, tc.live)
			write := tc.write(w)
			write().admitted()
			exhaust(w)
			refused := write()
			require.NotNil(t, refused.denied(), tc.reason)
			assert.Contains(t, refused.denied().Message, catalog.Unconfirmed, tc.reason)
			causes := refused.denied().Details.Causes
			assert.Contains(t, causes[len(causes)-1].Message, catalog.Unconfirmed, "in what kubectl prints")
		})
	}
}
