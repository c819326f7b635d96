package osbtest_test

import (
	stdcontext "context"
	"crypto/tls"
	"encoding/json"
	"encoding/pem"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/defaultplan/defaultplan/osb"
	"github.com/defaultplan/defaultplan/osb/osbtest"
)

var ann = &osb.Identity{Platform: "kubernetes", Value: osb.IdentityValue{Username: "ann"}}

// TestClientKeepsTheDuties leads the project's own client through a life, over TLS.
func TestClientKeepsTheDuties(t *testing.T) {
	t.Parallel()
	donor := httptest.NewUnstartedServer(nil)
	donor.StartTLS()
	defer donor.Close()
	options := osbtest.Options{
		Catalog: []byte(testCatalog), Username: "u", Password: "p", Prefix: "/acme",
		TLS: &tls.Config{Certificates: donor.TLS.Certificates, MinVersion: tls.VersionTLS12},
	}
	broker := osbtest.Start(t, options)
	client, err := osb.New(osb.Config{
		URL: broker.URL + "/", Auth: osb.Authentication{Username: "u", Password: "p"},
		CABundle: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: donor.Certificate().Raw}),
	})
	require.NoError(t, err)
	defer client.Close()
	ctx := t.Context()
	catalog, err := client.Catalog(ctx, "")
	require.NoError(t, err)
	again, err := client.Catalog(ctx, catalog.ETag)
	require.NoError(t, err)
	assert.Nil(t, again)

	request := osb.ProvisionRequest{
		InstanceID: "a/b", ServiceID: "db", PlanID: "small", Organization: "c1", Space: "ns1", Context: context(), Identity: ann,
		MaintenanceVersion: "1.0.0", Parameters: json.RawMessage(`{"size": 3}`),
	}
	broker.Async(osbtest.Provision, 1)
	response, err := client.Provision(ctx, request)
	require.NoError(t, err)
	finish(ctx, t, client, osb.PollRequest{InstanceID: "a/b", ServiceID: "db", PlanID: "small", Operation: response.Operation})
	broker.Async(osbtest.Update, 0)
	response, err = client.Update(ctx, osb.UpdateRequest{
		InstanceID: "a/b", ServiceID: "db", PlanID: "large", Context: context(), Previous: osb.PreviousValues{PlanID: "small"}, Identity: ann,
	})
	require.NoError(t, err)
	finish(ctx, t, client, osb.PollRequest{InstanceID: "a/b", ServiceID: "db", PlanID: "small", Operation: response.Operation})
	fetched, err := client.FetchInstance(ctx, osb.FetchRequest{InstanceID: "a/b"})
	require.NoError(t, err)
	assert.Equal(t, "large", fetched.PlanID)
	response, err = client.Bind(ctx, osb.BindRequest{InstanceID: "a/b", BindingID: "b", ServiceID: "db", PlanID: "large", AppGUID: "ns1", Context: context(), Identity: ann})
	require.NoError(t, err)
	assert.Contains(t, response.Binding.Credentials, "password")
	_, err = client.Unbind(ctx, osb.UnbindRequest{InstanceID: "a/b", BindingID: "b", ServiceID: "db", PlanID: "large", Identity: ann})
	require.NoError(t, err)
	_, err = client.Deprovision(ctx, osb.DeprovisionRequest{InstanceID: "a/b", ServiceID: "db", PlanID: "large", Identity: ann})
	require.NoError(t, err)
	broker.AssertDuties(t)
	assert.Empty(t, broker.Instances())
	assert.Empty(t, broker.Bindings())
}

func finish(ctx stdcontext.Context, t *testing.T, client *osb.Client, request osb.PollRequest) {
	t.Helper()
	for {
		last, err := client.Poll(ctx, request)
		require.NoError(t, err)
		if last.State != osb.InProgress {
			require.Equal(t, osb.Succeeded, last.State)
			return
		}
	}
}
