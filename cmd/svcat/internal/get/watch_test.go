package get

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/catalog"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
)

// watched is a list of rows that a test changes, and what is printed of it.
type watched struct {
	rows []instanceRow
	err  error
	out  bytes.Buffer
	told bytes.Buffer
}

func (w *watched) load(cli.Scope) (rows, error) {
	return table[instanceRow]{of: w.rows, columns: instanceColumns}, w.err
}

// follower is a run of `get instances` with these flags, in namespace dev.
func (w *watched) follower(t *testing.T, with client.WithWatch, args ...string) follower {
	t.Helper()
	env := cli.NewEnv(genericiooptions.IOStreams{Out: &w.out, ErrOut: &w.told})
	var f instanceList
	cmd := f.command(env, &cobra.Command{Use: "instances"}, nil)
	f.bindList(cmd)
	f.bindNamespaces(cmd)
	require.NoError(t, cmd.ParseFlags(args))
	require.NoError(t, f.parse(nil))
	l := f.namespaced("instances", "ServiceInstance", nil)
	l.scope, l.client = cli.ScopeOf("dev"), with
	return follower{l, w.load}
}

// printed is what was printed since the last time.
func (w *watched) printed() string {
	defer w.out.Reset()
	return w.out.String()
}

func watchedRow(name, status string) instanceRow {
	return instanceRow{key: key{namespace: "dev", name: name}, serviceType: "mysql", class: "db", plan: "small", status: status, created: metav1.Now()}
}

func TestRowsThatChange(t *testing.T) {
	t.Parallel()
	w := &watched{rows: []instanceRow{watchedRow("mydb", "Provisioning"), watchedRow("other", "Ready")}}
	news, err := w.follower(t, nil, "-w").report()
	require.NoError(t, err)
	update := func() string {
		require.NoError(t, news.update(t.Context()))
		return w.printed()
	}
	assert.Equal(t, "  NAME    NAMESPACE   TYPE    CLASS   PLAN       STATUS      AGE\n"+
		"+-------+-----------+-------+-------+-------+--------------+-----+\n"+
		"  mydb    dev         mysql   db      small   Provisioning   0s\n"+
		"  other   dev         mysql   db      small   Ready          0s\n", update())
	assert.Empty(t, update(), "nothing changed")

	w.rows[0].status = "Ready"
	w.rows[1].created = metav1.Unix(0, 0)
	assert.Equal(t, "  mydb    dev         mysql   db      small   Ready          0s\n", update(), "only what changed, and an age is no change")

	w.rows = append(w.rows[:1], watchedRow("third", "Ready"))
	assert.Regexp(t, `^  third   dev         mysql   db      small   Ready          0s\n  other   dev .* \(deleted\)\n$`, update(), "what is new, and what is gone")
	assert.Empty(t, update())

	w.err = &catalog.NameError{Kind: "instance", Name: "mydb"}
	assert.Regexp(t, `^  mydb .* \(deleted\)\n  third .* \(deleted\)\n$`, update(), "one that was named is gone")
}

func TestWatchOnly(t *testing.T) {
	t.Parallel()
	for _, format := range []string{"table", "name"} {
		w := &watched{rows: []instanceRow{watchedRow("mydb", "Provisioning")}}
		instance := &v1beta1.ServiceInstance{ObjectMeta: metav1.ObjectMeta{Namespace: "dev", Name: "mydb"}}
		f := w.follower(t, fakeCluster(t, interceptor.Funcs{}, instance), "--watch-only", "-o", format)
		news, err := f.report()
		require.NoError(t, err)
		require.NoError(t, news.update(t.Context()))
		assert.Empty(t, w.printed(), "%s: the list at first is not asked for", format)
		w.rows = append(w.rows, watchedRow("other", "Ready"))
		require.NoError(t, f.client.Create(t.Context(), &v1beta1.ServiceInstance{ObjectMeta: metav1.ObjectMeta{Namespace: "dev", Name: "other"}}))
		require.NoError(t, news.update(t.Context()))
		assert.Contains(t, w.printed(), "other", format)
	}
}

func fakeCluster(t *testing.T, intercept interceptor.Funcs, objects ...client.Object) client.WithWatch {
	t.Helper()
	scheme, err := cli.Scheme()
	require.NoError(t, err)
	return fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).WithInterceptorFuncs(intercept).Build()
}

func TestObjectsThatChange(t *testing.T) {
	t.Parallel()
	instance := &v1beta1.ServiceInstance{ObjectMeta: metav1.ObjectMeta{Namespace: "dev", Name: "mydb"}}
	w := &watched{}
	f := w.follower(t, fakeCluster(t, interceptor.Funcs{}, instance), "-w", "-o", "custom-columns=NAME:.metadata.name,TYPE:.spec.serviceType")
	news, err := f.report()
	require.NoError(t, err)
	update := func() string {
		require.NoError(t, news.update(t.Context()))
		return w.printed()
	}
	assert.Equal(t, "NAME   TYPE\nmydb   <none>\n", update())
	instance.Labels = map[string]string{"a": "b"}
	require.NoError(t, f.client.Update(t.Context(), instance))
	assert.Empty(t, update(), "no column changed")
	instance.Spec.ServiceType = "mysql"
	require.NoError(t, f.client.Update(t.Context(), instance))
	assert.Equal(t, "mydb   mysql\n", update())
}

// TestFollow: a watch that ends, or that the API server has forgotten the version of, begins
// again with the list, and Ctrl-C is no failure.
func TestFollow(t *testing.T) {
	t.Parallel()
	ctx, interrupt := context.WithCancel(t.Context())
	w := &watched{rows: []instanceRow{watchedRow("mydb", "Provisioning")}}
	var versions []string
	listed := func(_ context.Context, _ client.WithWatch, list client.ObjectList, _ ...client.ListOption) error {
		list.SetResourceVersion("7")
		return nil
	}
	intercept := interceptor.Funcs{List: listed, Watch: func(_ context.Context, _ client.WithWatch, _ client.ObjectList, options ...client.ListOption) (watch.Interface, error) {
		watcher := watch.NewRaceFreeFake()
		all := client.ListOptions{}
		all.ApplyOptions(options)
		versions = append(versions, all.Raw.ResourceVersion)
		switch len(versions) {
		case 1: // the first ends as expired
			w.rows = []instanceRow{watchedRow("mydb", "Ready")}
			watcher.Error(&metav1.Status{Status: metav1.StatusFailure, Code: 410, Reason: metav1.StatusReasonExpired})
		case 2: // the second tells of a change, and is closed
			w.rows = []instanceRow{watchedRow("mydb", "Updating")}
			watcher.Add(&unstructured.Unstructured{})
			watcher.Stop()
		default:
			interrupt()
		}
		return watcher, nil
	}}
	require.NoError(t, w.follower(t, fakeCluster(t, intercept), "-w").follow(ctx))
	assert.Equal(t, []string{"7", "7", "7"}, versions, "each begins at the version of a list")
	assert.Regexp(t, `(?s)STATUS.*  mydb .* Ready .*  mydb .* Updating `, w.printed())
}

// TestFollowRests: each change of any object has the list read again, but no sooner than ten times
// as long after a read as that took, and never sooner than the pace.
func TestFollowRests(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ takes, rests time.Duration }{
		"Quick": {time.Millisecond, pace},
		"Slow":  {3 * time.Second, 30 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				ctx, interrupt := context.WithCancel(t.Context())
				w := &watched{rows: []instanceRow{watchedRow("mydb", "Ready")}}
				watcher := watch.NewRaceFreeFake()
				intercept := interceptor.Funcs{Watch: func(context.Context, client.WithWatch, client.ObjectList, ...client.ListOption) (watch.Interface, error) {
					return watcher, nil
				}}
				f := w.follower(t, fakeCluster(t, intercept), "-w")
				var ended time.Time
				var rests []time.Duration
				f.load = func(scope cli.Scope) (rows, error) {
					if !ended.IsZero() {
						rests = append(rests, time.Since(ended))
					}
					watcher.Add(&unstructured.Unstructured{}) // the next change is there already
					time.Sleep(tc.takes)                      // in the bubble's time
					if ended = time.Now(); len(rests) == 3 {
						interrupt()
					}
					return w.load(scope)
				}
				require.NoError(t, f.follow(ctx))
				assert.Equal(t, []time.Duration{tc.rests, tc.rests, tc.rests}, rests)
			})
		})
	}
}

func TestFollowFails(t *testing.T) {
	t.Parallel()
	w := &watched{}
	intercept := interceptor.Funcs{Watch: func(context.Context, client.WithWatch, client.ObjectList, ...client.ListOption) (watch.Interface, error) {
		return nil, apierrors.NewForbidden(v1beta1.GroupVersion.WithResource("serviceinstances").GroupResource(), "", nil)
	}}
	err := w.follower(t, fakeCluster(t, intercept), "-w").follow(t.Context())
	require.ErrorContains(t, err, "cannot watch serviceinstances: ")
	assert.True(t, apierrors.IsForbidden(err))
}

// TestFollowWithoutRights: what of a scope may not be listed is left out, as without a watch, and
// what the cluster has is watched where the user may read it.
func TestFollowWithoutRights(t *testing.T) {
	t.Parallel()
	both := cli.Scope{Cluster: true, Namespaces: true, Namespace: "dev"}
	const notShown = "not shown: the cluster's plans: you may not list "
	for name, tc := range map[string]struct {
		reason    string
		scope     cli.Scope
		args      []string
		forbidden string
		watched   []string
		told      string
	}{
		"All":        {reason: "plans, and what their rows tell about", scope: both, watched: []string{"ServicePlan", "ServiceType", "ServiceClass", "ClusterServicePlan", "ClusterServiceType", "ClusterServiceClass"}},
		"NoCluster":  {reason: "the list goes on without the cluster", scope: both, forbidden: "Cluster", watched: []string{"ServicePlan", "ServiceType", "ServiceClass"}, told: notShown + "clusterserviceplans"},
		"NoTypes":    {reason: "rows need the types, too", scope: both, forbidden: "ClusterServiceType", watched: []string{"ServicePlan", "ServiceType", "ServiceClass", "ClusterServiceClass"}, told: notShown + "clusterservicetypes"},
		"Objects":    {reason: "objects alone need no types", scope: both, args: []string{"-o", "name"}, forbidden: "ClusterServiceType", watched: []string{"ServicePlan", "ClusterServicePlan"}},
		"ObjectsOf":  {reason: "they are left out as rows are", scope: both, args: []string{"-o", "name"}, forbidden: "Cluster", watched: []string{"ServicePlan"}, told: notShown + "clusterserviceplans"},
		"Namespace":  {reason: "the cluster's types decide stars of a namespace", scope: cli.ScopeOf("dev"), watched: []string{"ServicePlan", "ServiceType", "ServiceClass", "ClusterServiceType", "ClusterServiceClass"}},
		"NoneBeside": {reason: "as far as they may be read", scope: cli.ScopeOf("dev"), forbidden: "Cluster", watched: []string{"ServicePlan", "ServiceType", "ServiceClass"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, interrupt := context.WithCancel(t.Context())
			var watched []string
			kindOf := func(list client.ObjectList) string {
				return strings.TrimSuffix(list.GetObjectKind().GroupVersionKind().Kind, "List")
			}
			intercept := interceptor.Funcs{
				List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, options ...client.ListOption) error {
					if _, walks := list.(*unstructured.UnstructuredList); walks {
						interrupt()
					}
					if kind := kindOf(list); tc.forbidden != "" && strings.HasPrefix(kind, tc.forbidden) {
						return apierrors.NewForbidden(v1beta1.GroupVersion.WithResource(strings.ToLower(kind)+"s").GroupResource(), "", nil)
					}
					return c.List(ctx, list, options...)
				},
				Watch: func(_ context.Context, _ client.WithWatch, list client.ObjectList, _ ...client.ListOption) (watch.Interface, error) {
					watched = append(watched, kindOf(list))
					return watch.NewRaceFreeFake(), nil
				},
			}
			var out, told bytes.Buffer
			f := &planList{}
			cmd := f.command(cli.NewEnv(genericiooptions.IOStreams{Out: &out, ErrOut: &told}), &cobra.Command{Use: "plans"}, nil)
			f.bindList(cmd)
			require.NoError(t, cmd.ParseFlags(append([]string{"-w"}, tc.args...)))
			require.NoError(t, f.parse(nil))
			l := f.ofPlans(nil)
			l.scope, l.client = tc.scope, fakeCluster(t, intercept)
			require.NoError(t, follower{l, func(cli.Scope) (rows, error) {
				interrupt()
				return table[planRow]{of: make([]planRow, 1), columns: planColumns}, nil
			}}.follow(ctx))
			assert.Equal(t, tc.watched, watched, tc.reason)
			assert.Contains(t, told.String(), tc.told, tc.reason)
			assert.Equal(t, tc.told == "", told.Len() == 0, tc.reason)
		})
	}
}
