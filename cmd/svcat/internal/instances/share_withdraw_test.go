package instances

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
)

// What was said of an instance once deletes credentials elsewhere now: that is asked for,
// and nothing else is.
func TestShareAsksBeforeItDeletes(t *testing.T) {
	t.Parallel()
	unbind := func(namespaces ...string) *v1beta1.Sharing {
		return &v1beta1.Sharing{Namespaces: namespaces, WhenWithdrawn: v1beta1.WithdrawnUnbind}
	}
	labelled := unbind()
	labelled.NamespaceSelector = &metav1.LabelSelector{MatchLabels: map[string]string{"team": "x"}}
	for name, tc := range map[string]struct {
		reason string
		asked  share
		was    *v1beta1.Sharing
		asks   bool
	}{
		"None":      {reason: "all go", asked: share{nobody: true}, was: unbind("a"), asks: true},
		"Fewer":     {reason: "one goes", asked: share{without: []string{"a"}}, was: unbind("a", "b"), asks: true},
		"Labels":    {reason: "who had the others goes", asked: share{selector: "team=y"}, was: labelled, asks: true},
		"NoLabels":  {reason: "who had them goes", asked: share{withoutSelector: true}, was: labelled, asks: true},
		"Yes":       {reason: "it was said", asked: share{nobody: true, yes: true}, was: unbind("a")},
		"Unbind":    {reason: "it was said in this very command", asked: share{nobody: true, unbind: true, unbindSet: true}, was: unbind("a")},
		"UnbindNot": {reason: "they stay", asked: share{nobody: true, unbindSet: true}, was: unbind("a")},
		"Stay":      {reason: "they stay, as ever", asked: share{nobody: true}, was: &v1beta1.Sharing{Namespaces: []string{"a"}}},
		"More":      {reason: "none goes", asked: share{with: []string{"b"}}, was: unbind("a")},
		"Same":      {reason: "the labels that there are", asked: share{selector: "team=x"}, was: labelled},
		"Absent":    {reason: "no namespace was named", asked: share{nobody: true}},
		"DryRun":    {reason: "nothing is stored", asked: share{nobody: true, write: cli.WriteFlags{DryRun: "server"}}, was: unbind("a")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			instance := &v1beta1.ServiceInstance{Spec: v1beta1.ServiceInstanceSpec{Sharing: tc.was}}
			said := &bytes.Buffer{}
			tc.asked.env = &cli.Env{IOStreams: genericiooptions.IOStreams{In: strings.NewReader("n\n"), ErrOut: said}}
			err := tc.asked.confirm(t.Context(), instance)
			if !tc.asks {
				require.NoError(t, err, tc.reason)
				assert.Empty(t, said.String())
				require.NoError(t, tc.asked.edit(instance))
				return
			}
			require.ErrorContains(t, err, "nothing was changed", tc.reason)
			assert.Contains(t, said.String(), "they go now, with their Secrets")
			require.ErrorContains(t, tc.asked.edit(instance), "meanwhile", "as if another client writes it after the question")
			assert.Equal(t, tc.was, instance.Spec.Sharing)
			tc.asked.env.In = strings.NewReader("y\n")
			require.NoError(t, tc.asked.confirm(t.Context(), instance))
			require.NoError(t, tc.asked.edit(instance))
		})
	}
}

// A script has no one to ask.
func TestShareAsksNoScript(t *testing.T) {
	t.Parallel()
	script, err := os.Open(os.DevNull)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, script.Close()) })
	pipe, other, err := os.Pipe()
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, pipe.Close()); assert.NoError(t, other.Close()) })
	instance := &v1beta1.ServiceInstance{Spec: v1beta1.ServiceInstanceSpec{Sharing: &v1beta1.Sharing{Namespaces: []string{"a"}, WhenWithdrawn: v1beta1.WithdrawnUnbind}}}
	for reason, in := range map[string]*os.File{"answers nothing": script, "is no terminal": pipe} {
		s := &share{nobody: true, env: &cli.Env{IOStreams: genericiooptions.IOStreams{In: in, ErrOut: &bytes.Buffer{}}}}
		require.Error(t, s.confirm(t.Context(), instance), reason)
		assert.False(t, s.confirmed, reason)
	}
}
