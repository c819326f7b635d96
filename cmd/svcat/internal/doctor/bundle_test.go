package doctor

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	testingclock "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
)

func TestBundleFlags(t *testing.T) {
	t.Parallel()
	there := filepath.Join(t.TempDir(), "there")
	require.NoError(t, os.WriteFile(there, nil, 0o600))
	for name, tc := range map[string]struct {
		reason  string
		options options
		wrong   string
	}{
		"None":   {reason: "no bundle is asked for"},
		"New":    {reason: "nothing is there", options: options{bundle: there + ".new"}},
		"There":  {reason: "it is not overwritten", options: options{bundle: there}, wrong: "there is there already; name another file, or give --force"},
		"Forced": {reason: "it is, as asked for", options: options{bundle: there, force: true}},
		"Folder": {reason: "what is no file is not replaced", options: options{bundle: filepath.Dir(there), force: true}, wrong: "is no regular file"},
		"Device": {reason: "nor is a device, by root either", options: options{bundle: os.DevNull, force: true}, wrong: "is no regular file"},
		"Stdout": {reason: "standard output is no file", options: options{bundle: "-"}},
		"Wait":   {reason: "one thing or the other", options: options{bundle: "-", wait: true}, wrong: "--bundle goes without --wait and --output"},
		"Output": {reason: "one thing or the other", options: options{bundle: "-", output: "json"}, wrong: "--bundle goes without --wait and --output"},
		"Alone":  {reason: "there is nothing to overwrite", options: options{force: true}, wrong: "--force is for --bundle"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := tc.options.validateBundle()
			if tc.wrong == "" {
				assert.NoError(t, err, tc.reason)
				return
			}
			require.ErrorContains(t, err, tc.wrong, tc.reason)
			assert.Equal(t, cli.ExitUsage, cli.ExitCode(err))
		})
	}
}

func TestBundleIsItsOwnersAlone(t *testing.T) {
	t.Parallel()
	o := options{bundle: filepath.Join(t.TempDir(), "bundle.tar.gz")}
	require.NoError(t, o.file().Store([]byte("long content")))
	require.ErrorIs(t, o.file().Store([]byte("x")), os.ErrExist, "what appeared meanwhile is not overwritten")
	o.force = true
	require.NoError(t, o.file().Store([]byte("short")))
	content, err := os.ReadFile(o.bundle)
	require.NoError(t, err)
	assert.Equal(t, "short", string(content))
	is, err := os.Stat(o.bundle)
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o600), is.Mode().Perm())
}

// TestBundleFollowsNoLink: neither a link nor a file that another user prepared gets what is in a
// bundle; both are replaced.
func TestBundleFollowsNoLink(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	prepared, link := filepath.Join(folder, "prepared"), filepath.Join(folder, "bundle.tar.gz")
	require.NoError(t, os.WriteFile(prepared, []byte("theirs"), 0o600))
	require.NoError(t, os.Chmod(prepared, 0o666))
	held, err := os.Open(prepared)
	require.NoError(t, err)
	defer func() { assert.NoError(t, held.Close()) }()
	require.NoError(t, os.Symlink(prepared, link))
	require.ErrorContains(t, (&options{bundle: link, force: true}).validateBundle(), "is no regular file")

	require.NoError(t, (&options{bundle: link, force: true}).file().Store([]byte("ours")), "one that is made meanwhile")
	is, err := os.Lstat(link)
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o600), is.Mode(), "a file, of its owner alone")
	theirs, err := os.ReadFile(prepared)
	require.NoError(t, err)
	assert.Equal(t, "theirs", string(theirs))

	require.NoError(t, (&options{bundle: prepared, force: true}).file().Store([]byte("ours")))
	is, err = os.Stat(prepared)
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o600), is.Mode())
	theirs, err = io.ReadAll(held)
	require.NoError(t, err)
	assert.Equal(t, "theirs", string(theirs), "who holds the old file open reads nothing new")

	left, err := os.ReadDir(folder)
	require.NoError(t, err)
	assert.Len(t, left, 2, "nothing is left beside them")
	require.Error(t, (&options{bundle: folder, force: true}).file().Store([]byte("ours")))
	around, err := os.ReadDir(filepath.Dir(folder))
	require.NoError(t, err)
	assert.Len(t, around, 1, "nor after a failure")
}

// What a broker answered is in its condition, and in no bundle.
func TestBundleQuotesNoBroker(t *testing.T) {
	t.Parallel()
	scheme, err := cli.Scheme()
	require.NoError(t, err)
	broker := &v1beta1.ClusterServiceBroker{ObjectMeta: metav1.ObjectMeta{Name: "azure"}}
	broker.Status.Conditions = []v1beta1.Condition{{Type: v1beta1.ConditionReady, Status: v1beta1.ConditionFalse, Reason: "BrokerRejected", Message: "s3cr3t"}}
	reader := interceptor.NewClient(fake.NewClientBuilder().WithScheme(scheme).WithObjects(broker).Build(), interceptor.Funcs{
		// The fake client takes no empty selector of fields.
		List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, _ ...client.ListOption) error {
			return c.List(ctx, list)
		},
	})
	said := func(ctx context.Context, reasonsOnly bool) string {
		v := inventory{reader: reader, clock: testingclock.NewFakePassiveClock(time.Time{}), namespace: "shop", reasonsOnly: reasonsOnly}
		return v.brokers(ctx)[0].Message
	}
	assert.Equal(t, "azure is not ready: BrokerRejected: s3cr3t", said(t.Context(), false))
	assert.Equal(t, "azure is not ready: BrokerRejected", said(t.Context(), true))
}

// TestFindingsForSupport: of an address no credentials are told, and a name is a line.
func TestFindingsForSupport(t *testing.T) {
	t.Parallel()
	f := forSupport(warningf("types", "choose a/b\n\x1b[2J", "a/b\n\u009b\u202e at https://user:hunter2@h"))
	assert.Equal(t, warningf("types", "choose a/b \ufffd[2J", "a/b \ufffd\ufffd at https://h"), f)
}
