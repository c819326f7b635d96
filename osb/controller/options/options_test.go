package options

import (
	"testing"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestOptions(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		reason string
		args   []string
		says   []string
	}{
		"Defaults":     {reason: "they are lawful"},
		"All":          {reason: "each can be set", args: []string{"--cluster-id=c", "--osb-api-request-timeout=5s", "--maximum-polling-duration=1h", "--broker-relist-interval=1h", "--secret-interval=5s", "--workers=1", "--osb-api-version=2.13", "--context-annotations=a/,b/", "--allow-broker-addresses=10.0.0.0/8", "--controller-name=east", "--namespaces=a,b", "--ignore-quotas"}},
		"NoTimeout":    {reason: "a call without an end", args: []string{"--osb-api-request-timeout=0s"}, says: []string{"--osb-api-request-timeout is 0s"}},
		"NoPolling":    {reason: "no time at all", args: []string{"--maximum-polling-duration=-1h"}, says: []string{"--maximum-polling-duration is -1h"}},
		"NoRelist":     {reason: "all the time", args: []string{"--broker-relist-interval=0s"}, says: []string{"--broker-relist-interval"}},
		"NoSecrets":    {reason: "all the time", args: []string{"--secret-interval=0s"}, says: []string{"--secret-interval"}},
		"NoWorkers":    {reason: "nothing is reconciled", args: []string{"--workers=0"}, says: []string{"--workers is 0"}},
		"NoAddresses":  {reason: "all that is wrong is told", args: []string{"--allow-broker-addresses=localhost,10.0.0.1/33"}, says: []string{`"localhost"`, `"10.0.0.1/33"`}},
		"BadName":      {reason: "its Lease is called after it", args: []string{"--controller-name=Far East"}, says: []string{`--controller-name is "Far East"`}},
		"BadNamespace": {reason: "there can be none", args: []string{"--namespaces=a,*", "--cluster-id=c"}, says: []string{`--namespaces has "*"`}},
		"NoClusterID":  {reason: "it cannot be found out", args: []string{"--namespaces=a"}, says: []string{"--namespaces goes with --cluster-id"}},
		"NoQuotas":     {reason: "a controller that may read policies observes them", args: []string{"--ignore-quotas"}, says: []string{"--ignore-quotas goes with --namespaces"}},
		"SeveralWrong": {reason: "all that is wrong is told", args: []string{"--workers=0", "--secret-interval=0s"}, says: []string{"--workers", "--secret-interval"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := New()
			flags := pflag.NewFlagSet("", pflag.ContinueOnError)
			o.Bind(flags)
			require.NoError(t, flags.Parse(test.args))
			err := o.Validate()
			if len(test.says) == 0 {
				assert.NoError(t, err, test.reason)
			}
			for _, text := range test.says {
				assert.ErrorContains(t, err, text, test.reason)
			}
		})
	}
}

func TestOptionsAllowWholeNetworks(t *testing.T) {
	t.Parallel()
	o := New()
	o.AllowBrokerAddresses = []string{"10.1.2.3/8"}
	rules, err := o.BrokerRules()
	require.NoError(t, err)
	require.Len(t, rules.AllowAddresses, 1)
	assert.Equal(t, "10.0.0.0/8", rules.AllowAddresses[0].String(), "whatever was written behind the prefix")
}

// Of Services and EndpointSlices the cache holds those that the controller made.
func TestCacheObjects(t *testing.T) {
	t.Parallel()
	o := New()
	assert.Nil(t, o.CacheObjects())
	o.Endpoints = true
	held := o.CacheObjects()
	assert.Len(t, held, 2)
	for _, of := range held {
		assert.Equal(t, "app.kubernetes.io/managed-by=defaultplan-controller", of.Label.String())
		assert.Nil(t, of.Namespaces, "as the cache has of everything")
	}
}

// A cache holds the namespaces that the flags name, or all.
func TestCacheNamespaces(t *testing.T) {
	t.Parallel()
	assert.Nil(t, (&Options{}).CacheNamespaces())
	assert.Len(t, (&Options{Namespaces: []string{"a", "b"}}).CacheNamespaces(), 2)
}

// The error says which flag has what wrong.
func TestBrokerRulesSayWhichFlag(t *testing.T) {
	t.Parallel()
	o := New()
	o.AllowBrokerAddresses, o.DenyBrokerCIDRs = []string{"everything"}, []string{"10.0.0.0/33"}
	_, err := o.BrokerRules()
	require.ErrorContains(t, err, `--allow-broker-addresses has "everything"`)
	require.ErrorContains(t, err, `--deny-broker-cidrs has "10.0.0.0/33"`)
}
