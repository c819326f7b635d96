package osb_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/defaultplan/defaultplan/osb/osbtest"
)

// A deletion while the broker still provisions does not wait for that.
func TestDeletionDuringAsyncProvision(t *testing.T) {
	t.Parallel()
	s := newBrokerEnv(t)
	s.broker.Async(osbtest.Provision, -1)
	s.broker.Async(osbtest.Deprovision, 1)
	i := s.db()
	s.Create(i)
	s.called(osbtest.PollInstance, 1)
	s.end(i)
	assert.Len(t, s.broker.Calls(osbtest.Of(osbtest.Deprovision)), 1)
	s.broker.Finish(i.Status.ExternalID)
	assert.Empty(t, s.broker.Instances())
}

// A broker that cannot halt what it makes says so: that is waited for.
func TestDeletionDuringAsyncProvisionThatIsNotHalted(t *testing.T) {
	t.Parallel()
	s := newBrokerEnv(t)
	s.broker.Async(osbtest.Provision, -1)
	i := s.db()
	s.Create(i)
	s.called(osbtest.PollInstance, 1)
	s.broker.Next(osbtest.Deprovision, osbtest.ConcurrencyError(), osbtest.ConcurrencyError())
	s.end(i)
	assert.Len(t, s.broker.Calls(osbtest.Of(osbtest.Deprovision)), 3)
}

// Only a creation can be overtaken: an update that is under way ends first, and what it
// made of the instance is what is removed.
func TestDeletionDuringAsyncUpdate(t *testing.T) {
	t.Parallel()
	s := newBrokerEnv(t)
	i := s.provisioned()
	s.broker.Next(osbtest.Update, osbtest.AsyncDone(-1))
	s.Change(i, func() { i.Spec.ClusterServicePlanExternalName = "large" })
	polls := len(s.called(osbtest.PollInstance, 1))
	s.Delete(i)
	s.called(osbtest.PollInstance, polls+2)
	assert.Empty(t, s.broker.Calls(osbtest.Of(osbtest.Deprovision)))
	s.broker.Finish(i.Status.ExternalID)
	s.Gone(i)
	assert.Empty(t, s.broker.Instances())
	assert.Len(t, s.broker.Calls(osbtest.Of(osbtest.Deprovision)), 1)
}

// After an update of unknown outcome it is unknown which plan the broker has;
// it is found out by naming both.
func TestDeletionAfterALostUpdate(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]osbtest.Fault{"Done": osbtest.CutAfter(), "NotDone": osbtest.CutBefore()} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newBrokerEnv(t)
			i := s.provisioned()
			s.broker.On(refusing(fault, osbtest.Update))
			held := s.broker.Hold(osbtest.Update)
			s.Change(i, func() { i.Spec.ClusterServicePlanExternalName = "large" })
			held.Call()
			s.Delete(i)
			held.Act()
			held.Answer()
			s.Gone(i)
			assert.Empty(t, s.broker.Instances())
			assert.Len(t, s.broker.Calls(osbtest.Of(osbtest.Update)), 1)
		})
	}
}
