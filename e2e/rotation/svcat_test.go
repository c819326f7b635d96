package rotation_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
)

// svcat asks for new credentials, with an overlap, and shows both; where the policy is
// Never it says so. The spec of a binding whose plan is decided takes that.
func TestSvcatRotates(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	b := e.bound()
	former := b.Status.ExternalID
	out := e.Svcat("rotate", "binding", "reader", "--overlap", "3s")
	assert.Contains(t, out, `binding "reader" gets new credentials`)
	e.Becomes(b, func() bool { return b.Status.ExternalID != former })
	out = e.Svcat("describe", "binding", "reader")
	assert.Regexp(t, `Former External ID:\s+`+former, out)
	e.rotated(b, former)
	e.Change(b, func() { b.Spec.Rotation.Policy = api.RotationNever })
	out = e.SvcatFails(2, "rotate", "binding", "reader")
	assert.Contains(t, out, "spec.rotation.policy is Never")
	out = e.SvcatFails(2, "rotate", "binding", "reader", "--overlap=-1h")
	assert.Contains(t, out, `--overlap is "-1h0m0s"`)
	out = e.SvcatFails(1, "rotate", "binding", "absent")
	assert.Contains(t, out, "reader", "those that there are")
	e.unbound(b)
}

// A binding with an instance of its own rotates as any other, and goes with both.
func TestClaimRotates(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	b := e.Binding("own", "")
	b.Spec.ClusterServiceClassExternalName, b.Spec.ClusterServicePlanExternalName, b.Spec.SecretName = e.Name("db"), "small", "own"
	e.Create(b)
	e.Ready(b)
	former := b.Status.ExternalID
	reads := e.reads(b)
	e.request(b)
	e.rotated(b, former)
	assert.Equal(t, 2, reads.seen())
	reads.stop()
	e.request(b)
	second := b.Status.ExternalID
	e.Becomes(b, func() bool { return b.Status.ExternalID != second })
	own := e.Instance(b.Status.InstanceRef.Name)
	e.Get(own)
	e.Delete(b)
	e.Gone(b)
	e.Gone(own)
	assert.Empty(t, e.broker.Bindings())
	assert.Len(t, e.broker.Instances(), 1, "the one that is not dedicated")
}
