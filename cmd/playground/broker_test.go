package main

import (
	"context"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/defaultplan/defaultplan/e2e/stack/wait"
	"github.com/defaultplan/defaultplan/osb"
	"github.com/defaultplan/defaultplan/osb/osbtest"
)

// startBroker serves a broker of the demo until the test ends, and returns the folder
// that has its entry.
func startBroker(t *testing.T, name string) (dir string, e entry) {
	t.Helper()
	dir = t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- serveBroker(ctx, dir, name) }()
	t.Cleanup(func() {
		cancel()
		assert.NoError(t, <-served)
	})
	require.NoError(t, wait.Eventually(t.Context(), func() (bool, error) {
		_, err := os.Stat(entryFile(dir, name))
		return err == nil, nil
	}))
	e, err := readEntry(dir, name)
	require.NoError(t, err)
	return dir, e
}

func (e *entry) client(t *testing.T) *osb.Client {
	t.Helper()
	client, err := osb.New(osb.Config{URL: e.URL, Auth: osb.Authentication{Username: e.Username, Password: e.Password}})
	require.NoError(t, err)
	t.Cleanup(client.Close)
	return client
}

func TestBrokerLetsOnlyThoseInWhoKnowIt(t *testing.T) {
	t.Parallel()
	dir, e := startBroker(t, osbtest.Azure)
	info, err := os.Stat(entryFile(dir, osbtest.Azure))
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o600), info.Mode().Perm(), "it has a password")

	catalog, err := e.client(t).Catalog(t.Context(), "")
	require.NoError(t, err)
	assert.Len(t, catalog.Services, 3)

	stranger := e
	stranger.Password = "guessed"
	for path, method := range map[string]string{"/v2/catalog": http.MethodGet, booksPath: http.MethodGet, faultsPath: http.MethodPost} {
		_, err := stranger.ask(t.Context(), method, path, "{}")
		require.ErrorContains(t, err, "401", path)
	}
	_, other := startBroker(t, osbtest.Inhouse)
	assert.NotEqual(t, e.Password, other.Password)
}

func TestBooksShowWhatIsThere(t *testing.T) {
	t.Parallel()
	broker := osbtest.New(osbtest.Demo(osbtest.Inhouse))
	assert.Equal(t, Books{Rows: []Row{}, Violations: []string{}}, booksOf(broker, osbtest.DemoCatalog(osbtest.Inhouse)))
	broker.Add(osbtest.Instance{
		ID: "1", PlanID: "inhouse-small", Context: map[string]any{"namespace": "blue", "instance_name": "mydb"},
		Parameters: map[string]any{"location": "basement"}, Identity: &osbtest.Identity{Value: map[string]any{"username": "mia"}},
	})
	broker.Add(osbtest.Instance{ID: "2", PlanID: "inhouse-medium", Context: map[string]any{"namespace": "blue", "instance_name": "a"}})
	assert.Equal(t, []Row{
		{"instance", "blue/a", "inhouse-mysql/medium", "ready", "no user"},
		{"instance", "blue/mydb", "inhouse-mysql/small", "ready", "mia"},
	}, booksOf(broker, osbtest.DemoCatalog(osbtest.Inhouse)).Rows)
}

func TestFaultsBefall(t *testing.T) {
	t.Parallel()
	dir, e := startBroker(t, osbtest.Inhouse)
	client := e.client(t)
	said, err := command(t.Context(), "fault", osbtest.Inhouse, "catalog", "503", "--times", "2", "--dir", dir)
	require.NoError(t, err)
	assert.Equal(t, "inhouse answers 503 to the next 2 calls to catalog\n", said)
	_, err = client.Catalog(t.Context(), "")
	assert.Equal(t, osb.Unavailable, osb.KindOf(err))

	said, err = command(t.Context(), "fault", osbtest.Inhouse, "--dir", dir)
	require.NoError(t, err)
	assert.Equal(t, "inhouse works again\n", said)
	_, err = client.Catalog(t.Context(), "")
	require.NoError(t, err, "the second fault was taken back")

	said, err = command(t.Context(), "fault", osbtest.Inhouse, "provision", "500", "--acting", "--dir", dir)
	require.NoError(t, err)
	assert.Equal(t, "inhouse answers 500 to the next call to provision, and does what it is asked for all the same\n", said)
	_, err = client.Provision(t.Context(), osb.ProvisionRequest{
		InstanceID: "1", ServiceID: "inhouse-mysql", PlanID: "inhouse-small", Organization: "o", Space: "s",
		Context: map[string]any{"platform": "kubernetes", "namespace": "blue", "instance_name": "mydb", "clusterid": "c"},
	})
	require.Error(t, err)
	said, err = command(t.Context(), "fault", osbtest.Azure, "--dir", dir)
	require.ErrorContains(t, err, "nothing was started there", said)
	answer, err := e.ask(t.Context(), http.MethodGet, booksPath, "")
	require.NoError(t, err)
	assert.Contains(t, string(answer), "blue/mydb", "it was made")
}

func TestFaultArguments(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason string
		args   []string
		times  int
		want   fault
		err    string
	}{
		"None":     {reason: "it works again", want: fault{}},
		"Status":   {reason: "the next call", args: []string{"bind", "410"}, times: 1, want: fault{Verb: osbtest.Bind, Status: 410, Times: 1}},
		"Verb":     {reason: "polls are not offered", args: []string{"poll", "500"}, times: 1, err: `cannot make "poll" go wrong`},
		"NoStatus": {reason: "there is no default", args: []string{"bind"}, times: 1, err: "say the status"},
		"Success":  {reason: "success is no fault", args: []string{"bind", "200"}, times: 1, err: "allowed are 400 to 599"},
		"Word":     {reason: "a status is a number", args: []string{"bind", "gone"}, times: 1, err: "allowed are 400 to 599"},
		"Never":    {reason: "no call goes wrong", args: []string{"bind", "500"}, times: 0, err: "once or more"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := fault{Times: tc.times}
			err := f.parse(tc.args)
			if tc.err != "" {
				require.ErrorContains(t, err, tc.err, tc.reason)
				return
			}
			require.NoError(t, err, tc.reason)
			assert.Equal(t, tc.want, f, tc.reason)
		})
	}
}

func TestRegistrationHasNoPassword(t *testing.T) {
	t.Parallel()
	e := entry{Name: "azure", URL: "http://127.0.0.1:1", Username: "platform", Password: "s3cret"}
	assert.NotContains(t, e.registration(), e.Password, "a story shows it")
	dir := t.TempDir()
	require.NoError(t, e.layOut(dir))
	content, err := os.ReadFile(filepath.Join(dir, "azure.env"))
	require.NoError(t, err)
	assert.Equal(t, "username=platform\npassword=s3cret\n", string(content))
}
