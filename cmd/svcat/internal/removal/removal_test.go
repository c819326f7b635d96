package removal

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
)

func TestConfirm(t *testing.T) {
	t.Parallel()
	const (
		deletes  = "Delete instance \"mydb\"? [y/N]: "
		abandons = "Without a call to the broker, what exists there stays and is not removed, and you may be charged for it.\n" +
			"Delete instance \"mydb\" without a call to the broker? [y/N]: "
	)
	for name, c := range map[string]struct {
		reason, said string
		flags        Flags
		dryRun       string
		asks         string
		wrong        string
	}{
		"Yes":       {"it is meant", "y\n", Flags{Abandon: true}, "", abandons, ""},
		"YesAtAll":  {"a whole word", " YES \n", Flags{Abandon: true}, "", abandons, ""},
		"No":        {"it is not", "n\n", Flags{Abandon: true}, "", abandons, "not confirmed: nothing was changed"},
		"Nothing":   {"no answer is no yes", "", Flags{Abandon: true}, "", abandons, "not confirmed: nothing was changed"},
		"Flag":      {"--yes has said it", "n\n", Flags{Abandon: true, Yes: true}, "", "", ""},
		"DryRun":    {"nothing happens", "n\n", Flags{Abandon: true}, "server", "", ""},
		"Delete":    {"a deletion is asked for, too", "y\n", Flags{}, "", deletes, ""},
		"DeleteNo":  {"and is not done", "\n", Flags{}, "", deletes, "not confirmed: nothing was changed"},
		"DeleteYes": {"unless --yes has said it", "n\n", Flags{Yes: true}, "", "", ""},
		"DeleteDry": {"or nothing happens", "n\n", Flags{}, "client", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			streams, _, _, told := genericiooptions.NewTestIOStreams()
			streams.In = strings.NewReader(c.said)
			err := c.flags.Confirm(t.Context(), cli.NewEnv(streams), &cli.WriteFlags{DryRun: c.dryRun}, `instance "mydb"`)
			if c.wrong == "" {
				require.NoError(t, err, c.reason)
			} else {
				require.EqualError(t, err, c.wrong, c.reason)
			}
			assert.Equal(t, c.asks, told.String(), c.reason)
		})
	}
}

// TestScriptsAreNotAsked: without a terminal a deletion goes on, as ever, and nothing is abandoned.
func TestScriptsAreNotAsked(t *testing.T) {
	t.Parallel()
	for _, name := range []string{os.DevNull, filepath.Join(t.TempDir(), "answers")} {
		script, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600)
		require.NoError(t, err)
		t.Cleanup(func() { assert.NoError(t, script.Close()) })
		streams, _, _, told := genericiooptions.NewTestIOStreams()
		streams.In = script
		env := cli.NewEnv(streams)
		require.NoError(t, (&Flags{}).Confirm(t.Context(), env, &cli.WriteFlags{}, "it"), name)
		assert.Empty(t, told.String(), name)
		require.Error(t, (&Flags{Abandon: true}).Confirm(t.Context(), env, &cli.WriteFlags{}, "it"), name)
	}
}

// TestDescriptions: what a person is told of what is deleted.
func TestDescriptions(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 13, 0, 0, 0, 0, time.UTC)
	meta := metav1.ObjectMeta{Namespace: "dev", Name: "shop-db", CreationTimestamp: metav1.NewTime(now.AddDate(0, 0, -12))}
	recorded := meta
	recorded.Annotations = map[string]string{v1beta1.AnnotationAppliedDefaults: `{"rule":"named","class":"azure-mysql","plan":"premium-p1"}`}
	instance := &v1beta1.ServiceInstance{ObjectMeta: recorded}
	instance.Spec.ServiceType = "mysql"
	bound, own := &v1beta1.ServiceBinding{ObjectMeta: recorded}, &v1beta1.ServiceBinding{ObjectMeta: meta}
	bound.Spec.InstanceRef = &v1beta1.InstanceReference{Name: "shop-db"}
	forged := bound.DeepCopy()
	forged.Annotations[v1beta1.AnnotationAppliedDefaults] = `{"rule":"named","class":"a\tb","plan":"c\n\u001b[2J\u009b\u202e? [y/N]: y"}`
	for want, got := range map[string]string{
		"binding \"shop-db\" (of instance shop-db, a b/c \ufffd[2J\ufffd\ufffd? [y/N]: y, 12d old)":                                     Bindings([]*v1beta1.ServiceBinding{forged}, now),
		`instance "shop-db" (mysql, azure-mysql/premium-p1, 12d old, 2 bindings)`:                                                       Instance(instance, 2, now),
		`instance "shop-db" (12d old, no bindings)`:                                                                                     Instance(&v1beta1.ServiceInstance{ObjectMeta: meta}, 0, now),
		`instance "new" (1 binding)`:                                                                                                    Instance(&v1beta1.ServiceInstance{ObjectMeta: metav1.ObjectMeta{Name: "new"}}, 1, now),
		`binding "shop-db" (of instance shop-db, azure-mysql/premium-p1, 12d old)`:                                                      Bindings([]*v1beta1.ServiceBinding{bound}, now),
		`2 bindings: "shop-db" (of instance shop-db, azure-mysql/premium-p1, 12d old), ` + `"shop-db" (with its own instance, 12d old)`: Bindings([]*v1beta1.ServiceBinding{bound, own}, now),
		`broker "shop-db" (2 classes, 1 plan, 12d old)`:                                                                                 Broker(&meta, 2, 1, now),
	} {
		assert.Equal(t, want, got)
	}
}

// TestOutcome: what is said of a deletion that goes on.
func TestOutcome(t *testing.T) {
	t.Parallel()
	instance := &v1beta1.ServiceInstance{ObjectMeta: metav1.ObjectMeta{Name: "mydb"}}
	assert.Equal(t, "deleted mydb", Outcome(instance, true, 1))
	assert.Equal(t, "mydb will be deleted when its bindings are", Outcome(instance, false, 1))
	assert.Equal(t, "deleted mydb: its broker is being asked to remove it", Outcome(instance, false, 0))
}
