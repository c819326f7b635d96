package brokers

import (
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
)

func TestAbout(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		reason string
		about  about
		wrong  string
	}{
		"Least":    {"an address", about{url: "https://a"}, ""},
		"Cased":    {"as ever in any letters", about{url: "https://a", behavior: "MANUAL"}, ""},
		"NoURL":    {"where?", about{}, "--url is required"},
		"NotURL":   {"its refusal would repeat the password", about{url: "https://me:s3c%ret@a"}, "--url is no http or https address"},
		"NoScheme": {"its refusal would repeat the password", about{url: "ftp://me:s3cret@a"}, "--url is no http or https address"},
		"Auths":    {"which?", about{url: "https://a", basicSecret: "a", bearerSecret: "b"}, "exclude each other"},
		"TLS":      {"which?", about{url: "https://a", skipTLS: true, ca: "a"}, "exclude each other"},
		"Behavior": {"one of two", about{url: "https://a", behavior: "never"}, "--relist-behavior"},
		"Interval": {"back in time", about{url: "https://a", interval: -time.Second}, "--relist-duration"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := c.about.validate()
			if c.wrong == "" {
				require.NoError(t, err, c.reason)
				return
			}
			require.ErrorContains(t, err, c.wrong, c.reason)
			assert.NotContains(t, err.Error(), "s3c", c.reason)
			assert.Equal(t, cli.ExitUsage, cli.ExitCode(err))
		})
	}
}

func TestManifests(t *testing.T) {
	t.Parallel()
	cluster, err := (&about{url: "https://a", basicSecret: "other/azure", behavior: "duration", interval: time.Hour, classes: []string{"x"}}).clusterBroker("azure", "dev")
	require.NoError(t, err)
	want := &v1beta1.ClusterServiceBroker{ObjectMeta: metav1.ObjectMeta{Name: "azure"}}
	want.Spec.URL, want.Spec.RelistBehavior = "https://a", v1beta1.RelistDuration
	want.Spec.RelistDuration = &metav1.Duration{Duration: time.Hour}
	want.Spec.CatalogRestrictions = &v1beta1.CatalogRestrictions{ServiceClass: []string{"x"}}
	want.Spec.AuthInfo = &v1beta1.ClusterServiceBrokerAuthInfo{Basic: &v1beta1.ClusterBasicAuthConfig{SecretRef: &v1beta1.ObjectReference{Namespace: "other", Name: "azure"}}}
	assert.Equal(t, want, cluster)

	near, err := (&about{url: "https://a", bearerSecret: "token", behavior: "manual"}).serviceBroker("azure", "dev")
	require.NoError(t, err)
	assert.Equal(t, "token", near.Spec.AuthInfo.Bearer.SecretRef.Name)
	assert.Equal(t, v1beta1.RelistManual, near.Spec.RelistBehavior)
	assert.Nil(t, near.Spec.CatalogRestrictions, "none were given")
	assert.Equal(t, &v1beta1.ObjectReference{Namespace: "dev", Name: "azure"}, anywhere("azure", "dev"))
}

// The flags as they are typed, up to what is sent.
func TestRestrictions(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		reason string
		given  []string
		want   []string
	}{
		"One":    {"as it is", []string{"spec.free=true"}, []string{"spec.free=true"}},
		"List":   {"the commas of a list are its own", []string{"spec.externalName in (mysql, redis)"}, []string{"spec.externalName in (mysql, redis)"}},
		"Commas": {"the older svcat took several so", []string{"spec.free=true, name notin (a,b),c=d"}, []string{"spec.free=true", "name notin (a,b)", "c=d"}},
		"Twice":  {"and so", []string{"a in (b)", "c in (d, e)"}, []string{"a in (b)", "c in (d, e)"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var args []string
			for _, one := range c.given {
				args = append(args, "--class-restrictions", one, "--plan-restrictions", one)
			}
			a, flags := &about{}, pflag.NewFlagSet("", pflag.ContinueOnError)
			a.bind(flags)
			require.NoError(t, flags.Parse(args), c.reason)
			broker, err := a.serviceBroker("azure", "dev")
			require.NoError(t, err)
			assert.Equal(t, &v1beta1.CatalogRestrictions{ServiceClass: c.want, ServicePlan: c.want}, broker.Spec.CatalogRestrictions, c.reason)
		})
	}
}

// What is printed of a broker holds no password.
func TestWriteBroker(t *testing.T) {
	t.Parallel()
	broker, err := (&about{url: "https://me:s3cret@a.example"}).serviceBroker("azure", "dev")
	require.NoError(t, err)
	var out strings.Builder
	require.NoError(t, writeBroker(&out, broker))
	assert.Contains(t, out.String(), "https://xxxxx@a.example")
	assert.NotContains(t, out.String(), "s3cret")
}

func TestScope(t *testing.T) {
	t.Parallel()
	for word, want := range map[string]bool{"namespace": false, "cluster": true} {
		s := scope{word: word}
		require.NoError(t, s.validate())
		assert.Equal(t, want, s.cluster)
	}
	all := scope{word: "all"}
	assert.Equal(t, cli.ExitUsage, cli.ExitCode(all.validate()))
	flagged := scope{word: "namespace", cluster: true}
	require.NoError(t, flagged.validate())
	assert.True(t, flagged.cluster, "--cluster is --scope cluster")
}
