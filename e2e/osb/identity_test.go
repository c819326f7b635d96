package osb_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/e2e/env"
	"github.com/defaultplan/defaultplan/osb/osbtest"
)

// as is a client of a user who may do everything in the environment's namespace.
func (e *testEnv) as(user string, groups []string, extra map[string][]string) client.Client {
	e.Helper()
	e.GrantRole(user, "cluster-admin")
	config := e.RESTConfigFor(user, groups...)
	config.Impersonate.UID, config.Impersonate.Extra = "uid-of-"+user, extra
	made, err := client.New(config, client.Options{Scheme: e.Client().Scheme()})
	require.NoError(e, err)
	return made
}

// The broker receives the identity of the user who applies an instance; at an
// update it is the one who changed the spec last, also where another only
// touched the object.
func TestOriginatingIdentity(t *testing.T) {
	t.Parallel()
	s := newBrokerEnv(t)
	ann := s.as("ann@acme.example", []string{"dev", "ops"}, map[string][]string{"acme.example/clearance": {"high", "low"}})
	bob := s.as("bob@acme.example", nil, nil)
	carol := s.as("carol@acme.example", []string{"auditors"}, nil)

	i := s.db(having(`{"size": 1}`))
	i.Spec.UserInfo = &api.UserInfo{Username: "mallory"} // this is ignored
	require.NoError(t, ann.Create(t.Context(), i))
	s.Ready(i)
	told := s.last(osbtest.Provision).Identity
	require.NotNil(t, told)
	assert.Equal(t, "kubernetes", told.Platform)
	assert.Equal(t, "ann@acme.example", told.Value["username"])
	assert.Equal(t, "uid-of-ann@acme.example", told.Value["uid"])
	assert.Subset(t, told.Value["groups"], []any{"dev", "ops"})
	assert.Equal(t, object{"acme.example/clearance": []any{"high", "low"}}, told.Value["extra"])

	i.Spec.Parameters = env.RawJSON(`{"size": 2}`)
	require.NoError(t, bob.Update(t.Context(), i))
	s.Ready(i)
	told = s.last(osbtest.Update).Identity
	require.NotNil(t, told)
	assert.Equal(t, "bob@acme.example", told.Value["username"])
	assert.Equal(t, object{}, told.Value["extra"], "all four keys are there, also if they are empty")

	i.Labels = map[string]string{"touched": "by-carol"}
	require.NoError(t, carol.Update(t.Context(), i))
	require.NoError(t, carol.Delete(t.Context(), i))
	s.Gone(i)
	told = s.last(osbtest.Deprovision).Identity
	require.NotNil(t, told)
	assert.Equal(t, "bob@acme.example", told.Value["username"])
}

// The edit of a spec while the broker works is told as its editor's, when its time comes.
func TestOriginatingIdentityOfAnEditDuringAnOperation(t *testing.T) {
	t.Parallel()
	s := newBrokerEnv(t)
	ann, bob := s.as("ann@acme.example", nil, nil), s.as("bob@acme.example", nil, nil)
	s.broker.Async(osbtest.Provision, -1)
	i := s.db(having(`{"size": 1}`))
	require.NoError(t, ann.Create(t.Context(), i))
	s.called(osbtest.PollInstance, 1)
	before := i.DeepCopy()
	i.Spec.Parameters = env.RawJSON(`{"size": 2}`)
	require.NoError(t, bob.Patch(t.Context(), i, client.MergeFrom(before)))
	s.broker.Finish(i.Spec.ExternalID)
	s.Ready(i)
	assert.Equal(t, "ann@acme.example", s.last(osbtest.Provision).Identity.Value["username"])
	assert.Equal(t, "bob@acme.example", s.last(osbtest.Update).Identity.Value["username"])
	assert.Equal(t, "bob@acme.example", i.Status.ExternalProperties.UserInfo.Username)
	s.end(i)
}
