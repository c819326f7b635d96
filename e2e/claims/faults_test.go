package claims_test

import (
	"fmt"
	"net/http"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/e2e/env"
	"github.com/defaultplan/defaultplan/e2e/stack/suite"
	"github.com/defaultplan/defaultplan/osb/osbtest"
)

// TestFaultsOfOneCall: what goes wrong once at the broker is told at the binding, and is
// over, or is its end. In either case nothing is made twice, and nothing is left.
func TestFaultsOfOneCall(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		reason string
		verb   osbtest.Verb
		faults []osbtest.Fault
		// failed is the reason for which it is Failed; empty: it is Ready in the end.
		failed string
	}{
		"ProvisionRefused":     {"the instance is Failed, and the binding with it", osbtest.Provision, []osbtest.Fault{osbtest.Status(400, `{"description": "no room"}`)}, "ProvisionCallFailed"},
		"ProvisionFails":       {"it is unknown whether it was created: another is, and not two", osbtest.Provision, []osbtest.Fault{osbtest.Status(500, `{"description": "no room"}`).Acting()}, ""},
		"ProvisionUnheard":     {"the answer was lost", osbtest.Provision, []osbtest.Fault{osbtest.CutAfter()}, ""},
		"ProvisionEndsBadly":   {"it took a while, and came to nothing", osbtest.Provision, []osbtest.Fault{osbtest.AsyncFailed(0)}, "ProvisionCallFailed"},
		"BindRefused":          {"the instance is there, and the binding is Failed", osbtest.Bind, []osbtest.Fault{osbtest.Status(400, `{"description": "no room"}`)}, "BindCallFailed"},
		"BindFails":            {"the credentials that may have been made are removed", osbtest.Bind, []osbtest.Fault{osbtest.Status(500, `{}`).Acting()}, ""},
		"BindUnheard":          {"the answer was lost", osbtest.Bind, []osbtest.Fault{osbtest.CutAfter()}, ""},
		"BindEndsBadly":        {"it took a while, and came to nothing", osbtest.Bind, []osbtest.Fault{osbtest.AsyncFailed(0)}, "BindCallFailed"},
		"UnbindFails":          {"it is tried until it is done", osbtest.Unbind, []osbtest.Fault{osbtest.Status(500, `{}`), osbtest.CutAfter()}, ""},
		"DeprovisionEndsBadly": {"it is tried until it is done", osbtest.Deprovision, []osbtest.Fault{osbtest.AsyncFailed(0)}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			t.Log(test.reason)
			s := newShop(t)
			s.broker.Next(test.verb, test.faults...)
			b := s.claim()
			s.Create(b)
			if test.failed != "" {
				s.HasCondition(b, api.ConditionFailed, api.ConditionTrue, test.failed)
				s.HasCondition(b, api.ConditionReady, api.ConditionFalse, test.failed)
				s.HasCondition(b, api.ConditionStalled, api.ConditionTrue, test.failed)
				assert.Nil(t, b.Status.Binding)
			} else {
				s.Ready(b)
				s.only()
			}
			s.ends(b)
		})
	}
}

// TestInstanceIsMended: a binding that is Failed with its instance is not, once that is
// edited so that the broker takes it.
func TestInstanceIsMended(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	s.broker.Next(osbtest.Provision, osbtest.Status(400, `{"description": "too small"}`))
	b := s.claim()
	s.Create(b)
	told := s.HasCondition(b, api.ConditionFailed, api.ConditionTrue, "ProvisionCallFailed")
	assert.Contains(t, told.Message, "too small")
	own := s.own(b)
	s.Change(own, func() { own.Spec.Parameters = env.RawJSON(`{"size": 7}`) })
	s.Ready(b)
	made, _ := s.only()
	assert.EqualValues(t, 7, made.Parameters["size"])
	s.ends(b)
}

// shakyClaims is how many there are whose broker fails at random, and shakyShare of its
// calls go wrong.
const (
	shakyClaims = 16
	shakyShare  = 0.25
)

// shakyFaults are those that pass soon, and that it is refused for good.
func shakyFaults(verb osbtest.Verb) []osbtest.Fault {
	slow := []string{osbtest.Hang().String(), osbtest.Oversized(0).String(), osbtest.SlowAnswer(0).String(), osbtest.Delay(0).String(), osbtest.RetryAfter("").String()}
	list := slices.DeleteFunc(osbtest.Faults(verb), func(f osbtest.Fault) bool { return slices.Contains(slow, f.String()) })
	if verb == osbtest.Provision || verb == osbtest.Bind {
		list = append(list, osbtest.Status(http.StatusBadRequest, `{"description": "not like this"}`))
	}
	return list
}

// TestFaultsAtRandom: whatever goes wrong with a quarter of all calls, in the end each
// binding is Ready, or Failed; none has two instances; and all of it can be removed.
func TestFaultsAtRandom(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	seed := suite.Seed(t, "CLAIMS_SEED")
	s.broker.On(osbtest.Random(seed, shakyShare, shakyFaults))
	claims := make([]*api.ServiceBinding, shakyClaims)
	for i := range claims {
		claims[i] = s.claim(func(b *api.ServiceBinding) { b.Name = fmt.Sprintf("shaky-%02d", i) })
		s.Create(claims[i])
	}
	ready := 0
	for _, b := range claims {
		if s.comesToAnEnd(b) {
			ready++
		}
	}
	assert.Greater(t, ready, shakyClaims/2, "most become Ready")
	assert.LessOrEqual(t, len(s.broker.Instances()), shakyClaims)
	for i, b := range claims {
		s.Delete(b)
		if i == shakyClaims/2 {
			s.broker.Sync()
		}
	}
	for _, b := range claims {
		s.Gone(b)
	}
	assert.Empty(t, s.broker.Bindings())
	assert.Empty(t, s.broker.Instances())
	assert.Empty(t, s.broker.Orphans())
	s.nothingMadeTwice()
}

// comesToAnEnd waits until a claim is Ready, which it says, or Failed.
func (s *shop) comesToAnEnd(b *api.ServiceBinding) (ready bool) {
	s.Helper()
	s.Eventually(func() (bool, error) {
		s.Get(b)
		is, _ := api.FindCondition(b.Status.Conditions, api.ConditionReady)
		failed, _ := api.FindCondition(b.Status.Conditions, api.ConditionFailed)
		ready = is.Status == api.ConditionTrue
		if ready || failed.Status == api.ConditionTrue && !b.Status.OrphanMitigationInProgress {
			return true, nil
		}
		return false, fmt.Errorf("%s: %s", b.Name, env.StatusOf(b))
	})
	return ready
}
