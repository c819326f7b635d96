package svcat_test

import (
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/osb/osbtest"
)

// A broker of each scope, with each way to be let in.
func TestRegister(t *testing.T) { //nolint:tparallel // The cases share one env, one after the other.
	t.Parallel()
	e := newEnv(t)
	broker := e.demo()
	for name, way := range map[string]struct {
		reason, scope             string
		username, password, token string
		args                      []string
	}{
		"BasicOfTheCluster":      {"a Secret of the current namespace", "cluster", "me", "s3cr3t", "", []string{"--scope", "cluster", "--basic-secret", "basic"}},
		"BasicOfSomewhere":       {"a Secret of a named namespace", "cluster", "me", "s3cr3t", "", []string{"--cluster", "--basic-secret", e.Namespace + "/basic"}},
		"BearerOfTheCluster":     {"a token", "cluster", "", "", "t0ken", []string{"--scope", "cluster", "--bearer-secret", "bearer"}},
		"BasicOfTheNamespace":    {"a broker of the namespace, as ever without --scope", "namespace", "me", "s3cr3t", "", []string{"--basic-secret", "basic"}},
		"BearerOfTheNamespace":   {"a token", "namespace", "", "", "t0ken", []string{"--scope", "namespace", "--bearer-secret", "bearer"}},
		"NobodysOfTheNamespace":  {"a broker that lets everybody in", "namespace", "", "", "", nil},
		"NobodysOfTheClusterToo": {"a broker that lets everybody in", "cluster", "", "", "", []string{"--cluster"}},
	} {
		t.Run(name, func(t *testing.T) {
			broker.SetAuth(way.username, way.password, way.token)
			registered := e.Name(lower(name))
			if way.username != "" {
				e.replaceSecret("basic", map[string]string{"username": way.username, "password": way.password})
			}
			if way.token != "" {
				e.replaceSecret("bearer", map[string]string{"token": way.token})
			}
			out := e.Svcat(append([]string{"register", registered, "--url", broker.URL, "--wait"}, way.args...)...)
			assert.Contains(t, out, "Ready - the catalog was taken over", way.reason)
			assert.NotContains(t, out, "s3cr3t")
			assert.Contains(t, e.Svcat("deregister", registered, "--scope", way.scope), "Removal requested for broker: "+registered, way.reason)
		})
	}
}

// Every flag of the older svcat, once, and the manifest that they make.
func TestRegisterAsEver(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	server := httptest.NewTLSServer(http.NotFoundHandler())
	t.Cleanup(server.Close)
	ca := filepath.Join(t.TempDir(), "ca.crt")
	require.NoError(t, os.WriteFile(ca, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}), 0o600))
	args := []string{
		"register", "asb", "--url", "https://broker.example.com", "--ca", ca, "--scope", "namespace", "--relist-behavior", "Duration", "--relist-duration", "30m",
		"--class-restrictions", "spec.externalName in (mysql, redis),spec.externalName notin (b)", "--class-restrictions", "spec.externalID=a", "--plan-restrictions", "spec.free=true",
	}
	out := e.Svcat(args...)
	assert.Contains(t, out, "https://broker.example.com")
	broker := &api.ServiceBroker{ObjectMeta: metav1.ObjectMeta{Namespace: e.Namespace, Name: "asb"}}
	e.Get(broker)
	assert.NotEmpty(t, broker.Spec.CABundle)
	assert.Equal(t, 30*time.Minute, broker.Spec.RelistDuration.Duration)
	assert.Equal(t, []string{"spec.externalName in (mysql, redis)", "spec.externalName notin (b)", "spec.externalID=a"}, broker.Spec.CatalogRestrictions.ServiceClass)
	assert.Equal(t, []string{"spec.free=true"}, broker.Spec.CatalogRestrictions.ServicePlan)

	e.golden("register-manifest", e.normal(e.told("register", "asb", "--url", "https://broker.example.com", "--scope", "cluster", "--basic-secret", "asb",
		"--relist-behavior", "manual", "--skip-tls", "--dry-run=client", "-o", "yaml")))
	assert.Contains(t, e.Svcat("register", e.Name("asb"), "--url", "https://broker.example.com", "--cluster", "--dry-run=server", "-o", "yaml"), "relistBehavior: Duration")
	assert.Equal(t, "Synchronization requested for broker: asb\n", e.told("sync", "broker", "asb"))
	assert.Equal(t, "Removal requested for broker: asb\n", e.told("deregister", "asb", "--timeout", "1m", "--interval", "1s"))
}

func TestRegisterErrors(t *testing.T) { //nolint:tparallel // The cases share one env, one after the other.
	t.Parallel()
	e := newEnv(t)
	for name, wrong := range map[string]struct {
		reason string
		code   int
		args   []string
		// field is what admission refuses, in its own words.
		field string
	}{
		"NoURL":       {"the address is missing", 2, []string{"asb"}, ""},
		"NoName":      {"the name is missing", 2, []string{"--url", "http://a"}, ""},
		"BothAuths":   {"one of two", 2, []string{"asb", "--url", "http://a", "--basic-secret", "a", "--bearer-secret", "b"}, ""},
		"BothTLS":     {"one of two", 2, []string{"asb", "--url", "http://a", "--skip-tls", "--ca", "x"}, ""},
		"NoCA":        {"the file", 1, []string{"asb", "--url", "http://a", "--ca", "/nowhere"}, ""},
		"BadBehavior": {"one of two words", 2, []string{"asb", "--url", "http://a", "--relist-behavior", "never"}, ""},
		"BadScope":    {"one of two words", 2, []string{"asb", "--url", "http://a", "--scope", "all"}, ""},
		"BadClasses":  {"admission's own words", 1, []string{"asb", "--url", "http://a", "--class-restrictions", "spec.externalName ~ mysql"}, "spec.catalogRestrictions.serviceClass[0]"},
		"BadURL":      {"a password is not repeated", 2, []string{"asb", "--url", "https://me:s3c%ret@a"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			told := e.normal(e.SvcatFails(wrong.code, append([]string{"register"}, wrong.args...)...))
			if wrong.field != "" {
				assert.Contains(t, told, `The ServiceBroker "asb" is invalid: `+wrong.field, wrong.reason)
				return
			}
			e.golden("register-error-"+lower(name), told)
		})
	}
}

// A broker that cannot be reached is tried again, which --wait tells; the time runs
// out.
func TestRegisterWhatIsAway(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	broker := e.demo()
	broker.Next(osbtest.GetCatalog, osbtest.Status(http.StatusInternalServerError, `{"description": "not today"}`))
	told := e.SvcatFails(4, "register", "asb", "--url", broker.URL, "--wait", "--timeout", "3s")
	assert.Contains(t, told, "asb: Ready=False ErrorFetchingCatalog: ")
	assert.Contains(t, told, `broker "asb" stands but is not ready after 3s`)
	assert.Contains(t, e.Svcat("sync", "broker", "asb", "--wait"), "Synchronized broker: asb")
}

// Sync has a changed catalog taken over: in the namespace first, else in the
// cluster, unless a scope is said.
func TestSync(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	for range 2 {
		got := s.run("", "relist", "broker", s.Name("azure"), "--wait")
		assert.Equal(t, "Synchronized broker: "+s.Name("azure")+"\n", got.out, got.err)
	}
	require.NoError(t, s.broker.SetCatalog([]byte(`{"services": [{"id": "new-`+s.id("a")+`", "name": "new-`+s.Suffix+`", "description": "new", "bindable": true,
		"plans": [{"id": "only-`+s.id("a")+`", "name": "only", "description": "only"}]}]}`)))
	s.Svcat("sync", "broker", s.Name("azure"), "--scope", "cluster", "--wait")
	s.Svcat("provision", "mydb", "--class", "new-"+s.Suffix, "--wait")
	broker := &api.ClusterServiceBroker{ObjectMeta: metav1.ObjectMeta{Name: s.Name("azure")}}
	s.Get(broker)
	assert.Equal(t, int64(3), broker.Spec.RelistRequests)

	assert.Equal(t, "Synchronization requested for broker: "+s.Name("azure")+" (server dry run)\n", s.told("sync", "broker", s.Name("azure"), "--cluster", "--dry-run=server"))
	assert.Contains(t, s.SvcatFails(1, "sync", "broker", s.Name("azure"), "--scope", "namespace"), "the cluster has one: add --scope cluster if that is meant")
	s.SvcatFails(2, "sync", "broker")
}

// A broker waits for its instances, which --wait says; one of the cluster is never
// removed by mistake.
func TestDeregister(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	s.database("mydb")
	name := s.Name("azure")
	assert.Contains(t, s.SvcatFails(1, "deregister", name), "the cluster has one: add --scope cluster if that is meant")
	assert.Contains(t, s.told("deregister", name, "--cluster", "--dry-run=server"), "Removal requested for broker: "+name+" (server dry run)")
	waits := s.start("", "deregister", name, "--scope", "cluster", "--wait")
	waits.says(name + ": Ready=False DeletionBlockedByInstances: ")
	s.Svcat("deprovision", "mydb", "--wait")
	got := waits.ends()
	assert.Zero(t, got.code, got.err)
	assert.Equal(t, "Successfully removed broker \""+name+"\"\n", got.out)
	s.SvcatFails(1, "deregister", name, "--scope", "cluster")
}

// replaceSecret makes a Secret, or another of its name.
func (e *testEnv) replaceSecret(name string, data map[string]string) {
	e.Helper()
	manifest := "apiVersion: v1\nkind: Secret\nmetadata: {name: " + name + "}\nstringData:\n"
	for key, value := range data {
		manifest += "  " + key + ": " + value + "\n"
	}
	e.Apply(manifest)
}
