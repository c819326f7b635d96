package webhook

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// What is read live, what from the cache, and which of the two decides.
func TestLiveAndCached(t *testing.T) {
	t.Parallel()
	const classOnly = `{"clusterServiceClassExternalName":"db"}`
	young, old := founded.Add(30*time.Second), founded.Add(2*time.Minute)
	cases := map[string]struct {
		reason       string
		cached, live string
		now          time.Time
		spec         string
		want         string // the plan; "" for a refusal
		says         string // part of the refusal or of a warning
		reads        []string
		asksTooOften bool
		stale        bool
	}{
		"NamedPlan": {
			reason: "What is named and cached needs no live read.",
			cached: db, live: "other:", spec: byName, want: "db-small",
		},
		"NamedPlanJustApplied": {
			reason: "A plan and its instance in one manifest: the cache has not seen the plan.",
			cached: "other:", live: db, spec: byName, want: "db-small",
			reads: []string{"list ClusterServiceClassList spec.externalName=db", "list ClusterServicePlanList spec.clusterServiceClassRef.name=db",
				"get ClusterServicePlan /db-small", "get ClusterServiceClass /db", "get ClusterServicePlan /db-small", "get ClusterServiceClass /db"},
		},
		"ClassJustApplied": {
			reason: "The same by class.", cached: "db: gone!", live: "db: small", spec: classOnly, want: "db-small",
		},
		"TypeJustApplied": {
			reason: "The same by type.", cached: "other:", live: db, spec: byType, want: "db-small",
		},
		"SelectorJustApplied": {
			reason: "The same by selector.", cached: "db: small", live: "db: small large{a=b}", spec: `{"planSelector":{"matchLabels":{"a":"b"}}}`, want: "db-large",
		},
		"ConfirmedRefusal": {
			reason: "What the API server refuses as well is refused, with what the API server has.",
			cached: "mysql/db: small large", live: "mysql/db: small large third", spec: classOnly, says: "third",
		},
		"OverTheLimit": {
			reason: "Who asks too often is judged by the cache, and told.",
			cached: "other:", live: db, spec: `{"clusterServiceClassExternalName":"db","serviceType":"mysql"}`, asksTooOften: true, says: "judged by the webhook's cache",
			reads: []string{},
		},
		"RecordLive": {
			reason: "After a switch returned, the new default is chosen.",
			cached: "mysql/db: small*^ large", live: "mysql/db: small large*^", spec: byType, want: "db-large",
			reads: []string{"get ClusterServiceType /mysql"},
		},
		"RecordOfNewPlan": {
			reason: "A recorded plan that the cache lacks is read live.",
			cached: "mysql/db: small*", live: "mysql/db: small large^", spec: byType, want: "db-large",
		},
		"RecordOfDeadPlan": {
			reason: "A record that names no plan is not believed: annotations count.",
			cached: "mysql/db: small* large;record mysql lost", live: "mysql/db: small* large;record mysql lost", spec: byType, want: "db-small", says: `plan "lost"`,
		},
		"RecordOfDeletedPlan": {
			reason: "Nor one whose plan is being deleted.",
			cached: "mysql/db: small!^ large*", live: "mysql/db: small!^ large*", spec: byType, want: "db-large",
		},
		"RecordOfDeadPlanJustReplaced": {
			reason: "Then the type's plans are listed live, like without a record.",
			cached: "db: small<mysql>* large<mysql>;record mysql lost", live: "db: small<mysql> large<mysql>*;record mysql lost", spec: byType, want: "db-large",
		},
		"RecordOfNamespace": {
			reason: "The namespace's record comes before the cluster's.",
			cached: "mysql/db: small^;dev|mysql/own: tiny^", live: "mysql/db: small^;dev|mysql/own: tiny^", spec: byType, want: "own-tiny",
		},
		"NamespaceBeforeRecord": {
			reason: "So does an annotation in the namespace.",
			cached: "mysql/db: small^;dev|mysql/own: tiny*", live: "mysql/db: small^;dev|mysql/own: tiny*", spec: byType, want: "own-tiny",
		},
		"NamespaceRecordOfRetypedPlan": {
			reason: "A record of the namespace is held against the plan as it is now.",
			cached: "mysql/db: small*;dev|own: tiny<mysql>^", live: "mysql/db: small*;dev|own: tiny<redis>;record dev|mysql own-tiny", spec: byType, want: "db-small",
		},
		"RefusedByType": {
			reason: "A refusal by type is held against the API server, once.",
			cached: "other:", live: "mysql/db: small", spec: byType, says: "db/small",
			reads: []string{
				"get ClusterServiceType /mysql", "list ServiceClassList spec.serviceType=mysql", "list ServicePlanList spec.serviceType=mysql",
				"list ClusterServiceClassList spec.serviceType=mysql", "list ClusterServicePlanList spec.serviceType=mysql", "list ClusterServicePlanList spec.clusterServiceClassRef.name=db",
				"get ServiceType dev/mysql", "get ClusterServiceType /mysql",
			},
		},
		"StrayAnnotation": {
			reason: "A second annotation beside the record is told.",
			cached: "mysql/db: small<mysql>^* large<mysql>*", live: "mysql/db: small<mysql>^* large<mysql>*", spec: byType, want: "db-small", says: "another is recorded",
		},
		"RefusedByTypeOverTheLimit": {
			reason: "Over the limit, a refusal by type names what the cache has, whether or not they can be chosen.",
			cached: "mysql/db: small large", live: "mysql/db: small", spec: byType, asksTooOften: true, says: "db/large",
			reads: []string{"get ClusterServiceType /mysql"},
		},
		"Suggested": {
			reason: "A suggestion is chosen from the cache, where no record decides.",
			cached: "mysql/db: small? large", live: "mysql/db: small? large", spec: byType, want: "db-small",
			reads: []string{"get ClusterServiceType /mysql"},
		},
		"DefaultJustRecorded": {
			reason: "A default beats the older suggestion that the cache still has, as soon as it is recorded.",
			cached: "mysql/db: small? large", live: "mysql/db: small? large*^", spec: byType, want: "db-large",
			reads: []string{"get ClusterServiceType /mysql"},
		},
		"DefaultJustStoredAndCacheNotHeardOf": {
			reason: "While the cache was not heard of, one that is annotated counts at once, too.",
			cached: "mysql/db: small? large", live: "mysql/db: small? large*", spec: byType, want: "db-large", stale: true,
			reads: []string{
				"list ServiceClassList spec.serviceType=mysql", "list ServicePlanList spec.serviceType=mysql",
				"list ClusterServiceClassList spec.serviceType=mysql", "list ClusterServicePlanList spec.serviceType=mysql", "list ClusterServicePlanList spec.clusterServiceClassRef.name=db",
				"get ServiceType dev/mysql", "get ClusterServiceType /mysql",
			},
		},
		"RecordOfRetypedPlan": {
			reason: "A suggestion of the namespace does not beat a record whose plan the cache has as it was before.",
			cached: "db: small<redis>;dev|own: tiny<mysql>?", live: "db: small<mysql>*^;dev|own: tiny<mysql>?", spec: byType, want: "db-small",
		},
		"RecordOfReturnedPlan": {
			reason: "Nor one whose plan the cache has as being deleted.",
			cached: "mysql/db: small^ large!;dev|own: tiny<mysql>?", live: "mysql/db: small large*^;dev|own: tiny<mysql>?", spec: byType, want: "db-large",
		},
		"DefaultTakenOff": {
			reason: "A default whose record is gone is not chosen from a cache that still has the record.",
			cached: "mysql/db: small*^ large?", live: "mysql/db: small large?", spec: byType, want: "db-large",
		},
		"TwoAnnotatedAtOnce": {
			reason: "Of two defaults that are annotated at the same instant, no replica takes the one that it knows.",
			cached: "mysql/db: small* large", live: "mysql/db: small* large*", spec: byType, says: "db/large",
		},
		"FirstRecordOfNamespace": {
			reason: "A namespace's record is read live where the cache has plans of the type there.",
			cached: "mysql/db: small^;dev|mysql/own: tiny", live: "mysql/db: small^;dev|mysql/own: tiny*^", spec: byType, want: "own-tiny",
		},
		"FirstRecordOfPlansOfTheirOwnType": {
			reason: "Also where the plans have it themselves.",
			cached: "mysql/db: small^;dev|own: tiny<mysql>", live: "mysql/db: small^;dev|own: tiny<mysql>*^", spec: byType, want: "own-tiny",
		},
		"CacheNotHeardOfAndRecordedPlanDeleted": {
			reason: "While the cache was not heard of, a recorded plan that it still has is not believed.",
			cached: "mysql/db: small*^ large?", live: "mysql/db: large?;record mysql db-small", spec: byType, want: "db-large", stale: true,
		},
		"CacheNotHeardOfAndRecordedPlanRetyped": {
			reason: "Nor its type.",
			cached: "db: small<mysql>*^ large<mysql>", live: "db: small<redis> large<mysql>?;record mysql db-small", spec: byType, want: "db-large", stale: true,
		},
		"DormantRecord": {
			reason: "A record that stays while its plan cannot be chosen costs two reads by name and no list, however often it is met.",
			cached: "mysql/db: small*!^ large?", live: "mysql/db: small*!^ large?", spec: byType, asksTooOften: true, want: "db-large",
			reads: []string{"get ClusterServiceType /mysql", "get ClusterServicePlan /db-small", "get ClusterServiceClass /db"},
		},
		"DeadRecordOfNamespace": {
			reason: "Also in a namespace.",
			cached: "mysql/db: small*^;record dev|mysql lost", live: "mysql/db: small*^;record dev|mysql lost", spec: byType, asksTooOften: true, want: "db-small",
		},
		"RefusedWithADeadRecord": {
			reason: "A record that leads nowhere does not lead to lists without a limit.",
			cached: "mysql/db: small large;record mysql lost", live: "mysql/db: small large;record mysql lost", spec: byType, asksTooOften: true, says: "asks too often",
			reads: []string{"get ClusterServiceType /mysql", "get ClusterServicePlan /lost"},
		},
		"RecordOfNamespaceWithoutPlans": {
			reason: "A namespace's record is read live where the cache has one.",
			cached: "mysql/db: small^;record dev|mysql db-small", live: "mysql/db: small^;dev|mysql/own: tiny^", spec: byType, want: "own-tiny",
		},
		"OnlyPlanOfYoungClass": {
			reason: "While a class is young, more plans may be on their way to the cache.",
			cached: "db: small", live: "db: small large*", now: young, spec: classOnly, want: "db-large",
		},
		"OnlyPlanOfOldClass": {
			reason: "Later, the cache knows.",
			cached: "db: small", live: "db: small large*", now: old, spec: classOnly, want: "db-small", reads: []string{},
		},
		"TypeChanged": {
			reason: "The validating phase does not refuse by a type that the cache still has.",
			cached: "db: small<redis>", live: "db: small<mysql>*", spec: byType, want: "db-small",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := envOf(t, stocked(t, tc.cached), stocked(t, tc.live))
			if !tc.now.IsZero() {
				w.clock.SetTime(tc.now)
			}
			if tc.asksTooOften {
				exhaust(w)
			}
			w.cacheIsCurrent = !tc.stale
			o := w.create(tc.spec)
			if tc.reads != nil {
				assert.ElementsMatch(t, tc.reads, w.live.taken(), tc.reason)
			}
			if tc.want == "" {
				require.NotNil(t, o.denied(), tc.reason)
				assert.Contains(t, o.denied().Message, tc.says, tc.reason)
				return
			}
			assert.Contains(t, string(o.admitted()), fmt.Sprintf(`PlanRef":{"name":%q}`, tc.want), tc.reason)
			assert.Contains(t, strings.Join(o.warnings(), "\n"), tc.says, tc.reason)
		})
	}
}

// A plan that took the name of another, in another class, is not mistaken for it by either phase.
func TestPlanReplaced(t *testing.T) {
	t.Parallel()
	now := stocked(t, "mysql/db: old;mysql/other: small@p*", planDefaults("p", `{"from":"new"}`))
	now.object("p", isPlan).SetUID("uid-new")
	w := envOf(t, stocked(t, "mysql/db: small@p*", planDefaults("p", `{"from":"old"}`)), now)
	w.cacheIsCurrent = false
	stored := w.created(byType)
	assert.JSONEq(t, `{"name":"other"}`, at(t, stored, "/spec/clusterServiceClassRef"))
	assert.JSONEq(t, `{"from":"new"}`, at(t, stored, "/spec/parameters"))
	// A backup's references are held against the same.
	w.created(`{"externalID":"e","clusterServiceClassRef":{"name":"other"},"clusterServicePlanRef":{"name":"p"}}`)
}

// What is named and cached is decided without the API server: also while it does not answer.
func TestNamedNeedsNoLiveRead(t *testing.T) {
	t.Parallel()
	w := stocked(t, db).env()
	w.live.fail(func(string) error { return errors.New("the API server is down") })
	stored := w.created(byName)
	w.write(changed(t, stored, `{"spec":{"clusterServicePlanExternalName":"large"}}`), stored).admitted()
	assert.Empty(t, w.live.taken())
}

// A failure of ours is HTTP 500, in which failurePolicy counts, never a refusal.
func TestFailuresAreNotRefusals(t *testing.T) {
	t.Parallel()
	broken := func(string) error { return errors.New("the API server is down") }
	panics := func(string) error { panic(canary) }
	gone := func(w *env) func(string) error {
		return func(read string) error {
			if strings.HasPrefix(read, "get ClusterServicePlan") {
				w.live.show(&stock{tb: w.tb})
			}
			return nil
		}
	}
	cases := map[string]struct {
		reason, path, spec string
		breaks             func(*env)
	}{
		"LiveByType":       {"Records are read live.", MutateInstances, byType, func(w *env) { w.live.fail(broken) }},
		"LiveConfirm":      {"So is what is about to be refused.", MutateInstances, `{"clusterServiceClassName":"none"}`, func(w *env) { w.live.fail(broken) }},
		"CachedByName":     {"A cache can fail.", MutateInstances, byName, func(w *env) { w.cached.fail(broken) }},
		"CachedBySelector": {"On any way.", MutateInstances, `{"planSelector":{"matchLabels":{"a":"b"}}}`, func(w *env) { w.cached.fail(broken) }},
		"LivePanics":       {"A panic in a goroutine of ours costs one request.", MutateInstances, byType, func(w *env) { w.live.fail(panics) }},
		"CachePanics":      {"A panic in the handler, too.", MutateInstances, byName, func(w *env) { w.cached.fail(panics) }},
		"ShelfPanics":      {"And in one of the reads of a selector.", MutateInstances, `{"planSelector":{"matchLabels":{"a":"b"}}}`, func(w *env) { w.cached.fail(panics) }},
		"Validate": {"Nor does the other phase refuse what it cannot read.", ValidateInstances,
			`{"clusterServiceClassRef":{"name":"db"},"clusterServicePlanRef":{"name":"db-small"}}`, func(w *env) { w.cached.fail(broken) }},
		"Restored": {"Nor what is taken as decided.", MutateInstances,
			`{"externalID":"e","clusterServiceClassRef":{"name":"db"},"clusterServicePlanRef":{"name":"db-small"}}`, func(w *env) { w.cached.fail(broken) }},
		"RestoredLive": {"Nor where only the live read fails.", MutateInstances,
			`{"externalID":"e","clusterServiceClassRef":{"name":"other"},"clusterServicePlanRef":{"name":"db-small"}}`, func(w *env) { w.live.fail(broken) }},
		"PlanGoneMeanwhile": {"A plan that vanishes while it is chosen is asked for again.", MutateInstances, byType, func(w *env) {
			w.cached.show(&stock{tb: w.tb})
			w.live.fail(gone(w))
		}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := stocked(t, db).env()
			tc.breaks(w)
			body, err := json.Marshal(w.review(instanceOf(tc.spec), nil))
			require.NoError(t, err)
			recorder := w.post(tc.path, body)
			assert.Equal(t, http.StatusInternalServerError, recorder.Code, tc.reason)
			assert.NotContains(t, recorder.Body.String(), "allowed")
			assert.NotContains(t, recorder.Body.String()+w.log(), canary, "a panic may quote what the user wrote")

			w.cached.fail(nil)
			w.live.fail(nil)
			w.restock(stocked(t, db))
			w.created(byName)
		})
	}
}
