package osb_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/e2e/env"
	"github.com/defaultplan/defaultplan/e2e/stack/suite"
	"github.com/defaultplan/defaultplan/osb/conformance"
	"github.com/defaultplan/defaultplan/osb/conformance/observer"
	"github.com/defaultplan/defaultplan/osb/osbtest"
)

// faultsOfConformance are those of the broker while the controller is judged: what is to be cleaned
// up, what must not be, and what is to be waited for.
const faultsOfConformance = `[
	{"verb": "provision", "fault": "status", "status": 500, "body": "{}"},
	{"verb": "provision", "fault": "concurrency-error"},
	{"verb": "provision", "fault": "malformed"},
	{"verb": "update", "fault": "concurrency-error"},
	{"verb": "bind", "fault": "status", "status": 500, "body": "{}", "acting": true},
	{"verb": "bind", "fault": "concurrency-error"},
	{"verb": "unbind", "fault": "async", "polls": 1},
	{"verb": "deprovision", "fault": "status", "status": 503, "body": "{}", "retryAfter": "1"}
]`

// TestTheControllerConforms: the controller keeps every rule for platforms through the lives of
// instances and bindings, quick and slow; in the long form with faults, which take their time.
// osb-conformance platform prints the same report.
func TestTheControllerConforms(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	options := observer.Options()
	options.Username, options.Password = "platform", "pass word"
	broker := e.StartBroker(options)
	unjudged := []string{"M8.3", "M13.1"} // nothing is fetched in vain, and the broker lets everyone in
	if suite.Long() {
		script, err := observer.ReadScript(strings.NewReader(faultsOfConformance))
		require.NoError(t, err)
		script.Play(broker)
	} else {
		unjudged = append(unjudged, "M10.2", "M12.3") // they are about faults
	}
	credentials := e.Secret("broker")
	credentials.StringData = map[string]string{"username": "platform", "password": "pass word"}
	e.Create(credentials)
	e.Register(broker, func(b *api.ClusterServiceBroker) {
		b.Spec.AuthInfo = &api.ClusterServiceBrokerAuthInfo{Basic: &api.ClusterBasicAuthConfig{
			SecretRef: &api.ObjectReference{Namespace: credentials.Namespace, Name: credentials.Name},
		}}
	})

	db := e.Instance("db", env.OfPlan("conformance-database", "quick"))
	db.Spec.Parameters = env.RawJSON(`{"size": 1}`)
	slow, box := e.Instance("slow", env.OfPlan("conformance-database", "slow")), e.Instance("box", env.OfPlan("conformance-box", "only"))
	reader, writer := e.Binding("reader", "db"), e.Binding("writer", "slow")
	e.Create(db, slow, box)
	e.Ready(db, slow, box)
	e.Create(reader, writer)
	e.Ready(reader, writer)
	e.Change(db, func() { db.Spec.Parameters = env.RawJSON(`{"size": 2}`) })
	e.Change(reader, func() { reader.Spec.Rotation = &api.Rotation{Requests: 1} })
	e.Change(slow, func() { slow.Spec.ClusterServicePlanExternalName = "quick" })
	e.Ready(db, slow)
	e.Becomes(reader, func() bool { return reader.Status.Credentials != nil && reader.Status.Credentials.Requests == 1 })
	e.Delete(reader)
	e.Delete(writer)
	e.Delete(db)
	e.Delete(slow)
	e.Delete(box)
	e.Gone(reader, writer, db, slow, box)

	report := observer.Report(broker)
	assert.Equal(t, "2.17", report.APIVersion)
	assert.True(t, report.Good(true))
	var unseen []string
	for _, result := range report.Results {
		assert.NotEqual(t, conformance.Broken, result.Outcome, "%s: %v", result.ID, result.Details)
		if result.Outcome == conformance.NotSeen {
			unseen = append(unseen, result.ID)
		}
	}
	assert.Subset(t, unjudged, unseen)
	assert.Empty(t, broker.Instances())
	assert.Empty(t, broker.Bindings())
	assert.NotEmpty(t, broker.Calls(osbtest.Of(osbtest.PollInstance)))
}
