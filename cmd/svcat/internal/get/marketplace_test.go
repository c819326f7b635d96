package get

import (
	"bytes"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
)

// orderable are two classes with plans of several labels and weights, and one of a plan that left
// its broker's catalog.
func orderable() []client.Object {
	var all []client.Object
	plan := func(class, name, tier string, weight int32, gone bool) {
		p := &v1beta1.ClusterServicePlan{ObjectMeta: metav1.ObjectMeta{Name: class + "-" + name, Labels: map[string]string{"tier": tier}}}
		p.Spec.ExternalName, p.Spec.ClusterServiceClassRef.Name, p.Spec.Weight, p.Status.RemovedFromBrokerCatalog = name, class, weight, gone
		all = append(all, p)
	}
	for _, name := range []string{"cache", "db", "old"} {
		class := &v1beta1.ClusterServiceClass{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"order": map[string]string{"cache": "2", "db": "1"}[name]}}}
		class.Spec.ExternalName = name
		all = append(all, class)
	}
	plan("db", "large", "gold", 10, false)
	plan("db", "small", "free", 30, false)
	plan("cache", "tiny", "gold", 20, false)
	plan("old", "gone", "gold", 5, true)
	return all
}

// marketRun is a run of marketplace with these flags on a cluster, and what it prints.
func marketRun(t *testing.T, reader client.WithWatch, out *bytes.Buffer, args ...string) (*listing, loader) {
	t.Helper()
	var f market
	cmd := f.command(cli.NewEnv(genericiooptions.IOStreams{Out: out, ErrOut: out}), &cobra.Command{Use: "marketplace"}, nil)
	f.bindList(cmd)
	f.bindFilter(cmd, "type", "", "")
	require.NoError(t, cmd.ParseFlags(args))
	require.NoError(t, f.parse(nil))
	l := f.ofOffers(nil)
	l.scope, l.client = cli.Scope{Cluster: true}, reader
	return l, f.loader(t.Context(), l)
}

// TestMarketplaceLists: the flags of `get plans` work as there, for what can be ordered.
func TestMarketplaceLists(t *testing.T) {
	t.Parallel()
	columns := "custom-columns=NAME:.metadata.name"
	for name, tc := range map[string]struct {
		reason string
		args   []string
		want   string
	}{
		"Plans": {
			reason: "class by class", args: []string{"--no-headers"},
			want: "     cache   tiny       no\n     db      large      no\n             small      no\n",
		},
		"Selector": {
			reason: "by labels of plans", args: []string{"--no-headers", "-l", "tier=gold"},
			want: "     cache   tiny       no\n     db      large      no\n",
		},
		"SortBy": {
			reason: "by a field of plans; a class is shown again behind another", args: []string{"--no-headers", "--sort-by", ".spec.weight"},
			want: "     db      large      no\n     cache   tiny       no\n     db      small      no\n",
		},
		"Classes":         {reason: "classes that have a plan to order", args: []string{"-o", columns}, want: "NAME\ncache\ndb\n"},
		"NoHeaders":       {reason: "without a header", args: []string{"-o", columns, "--no-headers"}, want: "cache\ndb\n"},
		"SelectedClasses": {reason: "the classes of plans with the label", args: []string{"-o", columns, "--no-headers", "-l", "tier=free"}, want: "db\n"},
		"SortedClasses":   {reason: "by a field of classes", args: []string{"-o", columns, "--no-headers", "--sort-by", ".metadata.labels.order"}, want: "db\ncache\n"},
		"None":            {reason: "a label that no plan has", args: []string{"-l", "tier=none"}, want: "no plans to order with labels tier=none in the cluster\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var out bytes.Buffer
			l, load := marketRun(t, fakeCluster(t, interceptor.Funcs{}, orderable()...), &out, tc.args...)
			require.NoError(t, l.list(t.Context(), load), tc.reason)
			assert.Equal(t, tc.want, out.String(), tc.reason)
		})
	}
	var out bytes.Buffer
	l, load := marketRun(t, fakeCluster(t, interceptor.Funcs{}, orderable()...), &out, "--sort-by", ".spec.nosuch")
	require.ErrorContains(t, l.list(t.Context(), load), "--sort-by .spec.nosuch: none of the plans has this field; see svcat get plans -o yaml")
}

// TestMarketplaceWatch: a plan that changes is printed with its class, one that can no longer be
// ordered as deleted; as objects, the classes that came to have a plan.
func TestMarketplaceWatch(t *testing.T) {
	t.Parallel()
	reader := fakeCluster(t, interceptor.Funcs{}, orderable()...)
	var out bytes.Buffer
	watch := func(args ...string) func() string {
		l, load := marketRun(t, reader, &out, append(args, "--watch", "--no-headers")...)
		news, err := follower{l, load}.report()
		require.NoError(t, err)
		return func() string {
			out.Reset()
			require.NoError(t, news.update(t.Context()))
			return out.String()
		}
	}
	rows, objects := watch(), watch("-l", "tier=gold", "-o", "name")
	assert.Regexp(t, `^ +cache +tiny .*\n +db +large .*\n +db +small .*\n$`, rows())
	assert.Equal(t, "clusterserviceclass.servicecatalog.k8s.io/cache\nclusterserviceclass.servicecatalog.k8s.io/db\n", objects())

	change := func(name string, change func(*v1beta1.ClusterServicePlan)) {
		plan := &v1beta1.ClusterServicePlan{}
		require.NoError(t, reader.Get(t.Context(), client.ObjectKey{Name: name}, plan))
		change(plan)
		require.NoError(t, reader.Update(t.Context(), plan))
	}
	change("db-small", func(p *v1beta1.ClusterServicePlan) { p.Spec.Free = true })
	assert.Regexp(t, `^ +db +small +free .*\n$`, rows(), "only what changed")
	change("db-large", func(p *v1beta1.ClusterServicePlan) { p.Status.RemovedFromBrokerCatalog = true })
	assert.Regexp(t, `^ +db +large .* \(deleted\)\n$`, rows(), "one plan of two is gone")
	change("old-gone", func(p *v1beta1.ClusterServicePlan) { p.Status.RemovedFromBrokerCatalog = false })
	assert.Equal(t, "clusterserviceclass.servicecatalog.k8s.io/old\n", objects())
}

// TestMarketplaceFlags: marketplace takes the flags of lists.
func TestMarketplaceFlags(t *testing.T) {
	t.Parallel()
	flags := NewMarketplace(cli.NewEnv(genericiooptions.IOStreams{})).Flags()
	require.NoError(t, flags.Parse([]string{"-w", "--watch-only", "-l", "a=b", "--sort-by", ".spec.weight", "--no-headers", "-o", "custom-columns=A:.b", "-A", "--type", "t"}))
}
