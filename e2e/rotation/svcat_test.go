package rotation_test

import (
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
)

// svcat runs svcat in the stage's namespace, and returns what it printed to both outputs.
func (s *stage) svcat(args ...string) (string, error) { return s.runs("svcat", args...) }

// runs runs a client in the stage's namespace, as svcat does.
func (s *stage) runs(client string, args ...string) (string, error) {
	cmd := exec.CommandContext(s.Context(), filepath.Join(binFolder, client), append([]string{"-n", s.namespace}, args...)...)
	cmd.Env = shared.Environment()
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// svcat asks for new credentials, with an overlap, and shows both; where the policy is
// Never it says so. The spec of a binding whose plan is decided takes that.
func TestSvcatRotates(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	b := s.bound()
	former := b.Status.ExternalID
	out, err := s.svcat("rotate", "binding", "reader", "--overlap", "3s")
	require.NoError(t, err, out)
	assert.Contains(t, out, `binding "reader" gets new credentials`)
	s.becomes(b, func() bool { return b.Status.ExternalID != former })
	out, err = s.svcat("describe", "binding", "reader")
	require.NoError(t, err, out)
	assert.Regexp(t, `Former External ID:\s+`+former, out)
	s.rotated(b, former)
	s.Change(b, func() { b.Spec.Rotation.Policy = api.RotationNever })
	out, err = s.svcat("rotate", "binding", "reader")
	require.Error(t, err)
	assert.Contains(t, out, "spec.rotation.policy is Never")
	out, err = s.svcat("rotate", "binding", "reader", "--overlap=-1h")
	require.Error(t, err)
	assert.Contains(t, out, `--overlap is "-1h0m0s"`)
	out, err = s.svcat("rotate", "binding", "nobody")
	require.Error(t, err)
	assert.Contains(t, out, "reader", "those that there are")
	s.unbound(b)
}

// A binding with an instance of its own rotates as any other, and goes with both.
func TestClaimRotates(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	b := &api.ServiceBinding{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: "own"}}
	b.Spec.ClusterServiceClassExternalName, b.Spec.ClusterServicePlanExternalName, b.Spec.SecretName = s.class, "small", "own"
	s.Create(b)
	s.ready(b)
	former := b.Status.ExternalID
	reads := s.reads(b)
	s.request(b)
	s.rotated(b, former)
	assert.Equal(t, 2, reads.seen())
	reads.stop()
	s.request(b)
	second := b.Status.ExternalID
	s.becomes(b, func() bool { return b.Status.ExternalID != second })
	own := &api.ServiceInstance{}
	require.NoError(t, s.client.Get(t.Context(), client.ObjectKey{Namespace: b.Namespace, Name: b.Status.InstanceRef.Name}, own))
	s.Delete(b)
	s.Gone(b)
	s.Gone(own)
	assert.Empty(t, s.broker.Bindings())
	assert.Len(t, s.broker.Instances(), 1, "that which is nobody's own")
}
