package cli_test

import (
	"errors"
	"testing"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
)

func parsed(t *testing.T, args ...string) *cli.WriteFlags {
	t.Helper()
	w := &cli.WriteFlags{}
	flags := pflag.NewFlagSet("svcat", pflag.ContinueOnError)
	w.Bind(flags)
	require.NoError(t, flags.Parse(args))
	return w
}

func TestWriteFlags(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason        string
		args          []string
		stores, sends bool
		refused       string
	}{
		"Nothing":     {reason: "what is written is stored", stores: true, sends: true},
		"None":        {reason: "as without", args: []string{"--dry-run=none"}, stores: true, sends: true},
		"Bare":        {reason: "as kubectl long had it: the client", args: []string{"--dry-run"}},
		"Client":      {reason: "nothing is sent", args: []string{"--dry-run=client"}},
		"Server":      {reason: "admission decides, nothing is stored", args: []string{"--dry-run=server"}, sends: true},
		"Other":       {reason: "no other is allowed", args: []string{"--dry-run=true"}, refused: `--dry-run is "true"; allowed are none, client and server`, sends: true},
		"OtherOutput": {reason: "no other is allowed", args: []string{"-o", "wide"}, refused: `--output is "wide"; allowed are yaml, json and name`, stores: true, sends: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := parsed(t, tc.args...)
			assert.Equal(t, tc.stores, w.Stores(), tc.reason)
			assert.Equal(t, tc.sends, w.Sends(), tc.reason)
			err := w.Validate()
			if tc.refused == "" {
				require.NoError(t, err, tc.reason)
				return
			}
			require.EqualError(t, err, tc.refused, tc.reason)
			assert.Equal(t, cli.ExitUsage, cli.ExitCode(err))
		})
	}
}

// TestWriteFlagsSendNothing: a client dry run needs no cluster at all.
func TestWriteFlagsSendNothing(t *testing.T) {
	t.Parallel()
	w := parsed(t, "--dry-run=client")
	object := &v1beta1.ServiceInstance{}
	require.NoError(t, w.Create(t.Context(), nil, object))
	require.NoError(t, w.Patch(t.Context(), nil, object, nil))
	require.NoError(t, w.Delete(t.Context(), nil, object))
}

func TestTold(t *testing.T) {
	t.Parallel()
	instance := func() *v1beta1.ServiceInstance {
		return &v1beta1.ServiceInstance{ObjectMeta: metav1.ObjectMeta{Name: "db", ManagedFields: []metav1.ManagedFieldsEntry{{Manager: "secretive"}}}}
	}
	cases := map[string]struct {
		reason string
		args   []string
		want   string
	}{
		"Sentence": {reason: "by default a person reads it", want: "db is ordered\n"},
		"Client":   {reason: "a dry run says that it was one", args: []string{"--dry-run=client"}, want: "db is ordered (client dry run)\n"},
		"Server":   {reason: "and which", args: []string{"--dry-run=server"}, want: "db is ordered (server dry run)\n"},
		"Name":     {reason: "as kubectl names it", args: []string{"-o", "name"}, want: "serviceinstance.servicecatalog.k8s.io/db\n"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			env, _, out := newEnv(t)
			require.NoError(t, parsed(t, tc.args...).Report(env, instance(), "%s is ordered", "db"))
			assert.Equal(t, tc.want, out.String(), tc.reason)
		})
	}
	for _, output := range []string{"yaml", "json"} {
		env, _, out := newEnv(t)
		w := parsed(t, "-o", output)
		require.NoError(t, w.Report(env, instance(), "db is ordered"))
		require.NoError(t, w.Say(env, "and more"))
		assert.Contains(t, out.String(), "ServiceInstance", "an object for a program has its kind")
		assert.NotContains(t, out.String(), "secretive", "managed fields are left out")
		assert.NotContains(t, out.String(), "and more", "and nothing else is printed")
	}
}

func TestIsConflict(t *testing.T) {
	t.Parallel()
	plans := schema.GroupResource{Resource: "plans"}
	assert.True(t, cli.IsConflict(apierrors.NewConflict(plans, "x", errors.New("written in between"))))
	assert.True(t, cli.IsConflict(apierrors.NewAlreadyExists(plans, "x")))
	assert.False(t, cli.IsConflict(apierrors.NewNotFound(plans, "x")))
	assert.False(t, cli.IsConflict(nil))
}
