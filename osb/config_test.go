package osb

import (
	"encoding/json"
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestNew(t *testing.T) {
	t.Parallel()
	const allowed = "; allowed is http:// or https://, a host, and perhaps a port and a path"
	tests := map[string]struct {
		reason string
		config Config
		want   string
	}{
		"Empty":      {"required", Config{}, "cannot use the broker's URL: its scheme is neither http nor https" + allowed},
		"NoURL":      {"not repeated", Config{URL: "http://ann:s3cret@h:port"}, "cannot use the broker's URL: it is not a URL" + allowed},
		"Scheme":     {"no other", Config{URL: "ftp://h"}, "cannot use the broker's URL: its scheme is neither http nor https" + allowed},
		"NoScheme":   {"no guess", Config{URL: "h:80"}, "cannot use the broker's URL: its scheme is neither http nor https" + allowed},
		"NoHost":     {"required", Config{URL: "http://:80/x"}, "cannot use the broker's URL: it has no host" + allowed},
		"Opaque":     {"no host", Config{URL: "http:h"}, "cannot use the broker's URL: it has no host" + allowed},
		"Userinfo":   {"not repeated", Config{URL: "http://ann:s3cret@h"}, "cannot use the broker's URL: it holds a username or a password, which belong into a Secret" + allowed},
		"Query":      {"nowhere to put it", Config{URL: "http://h?token=s3cret"}, "cannot use the broker's URL: it has a query" + allowed},
		"EmptyQuery": {"also where it is empty", Config{URL: "http://h?"}, "cannot use the broker's URL: it has a query" + allowed},
		"Fragment":   {"means nothing to a server", Config{URL: "http://h#a"}, "cannot use the broker's URL: it has a fragment" + allowed},
		"EmptyFrag":  {"also where it is empty", Config{URL: "http://h#"}, "cannot use the broker's URL: it has a fragment" + allowed},
		"Bundle":     {"PEM", Config{URL: "http://h", CABundle: []byte("s3cret")}, "cannot use the CA bundle: it holds no certificate; allowed are certificates in PEM"},
		"BundleKey": {
			"no key belongs there", Config{URL: "http://h", CABundle: []byte("-----BEGIN PRIVATE KEY-----\nczNjcmV0\n-----END PRIVATE KEY-----\n")},
			`cannot use the CA bundle: it holds a PEM block "PRIVATE KEY"; allowed are only CERTIFICATE blocks`,
		},
		"BundleBroken": {
			"whole or not at all", Config{URL: "http://h", CABundle: []byte("-----BEGIN CERTIFICATE-----\nczNjcmV0\n-----END CERTIFICATE-----\n")},
			"cannot use the CA bundle: its certificate number 1 does not parse",
		},
		"Username": {
			"a colon would move into the password", Config{URL: "http://h", Auth: Authentication{Username: "a:b", Password: "s3cret"}},
			"cannot use the broker's credentials: the username holds a colon, which basic authentication does not allow",
		},
		"Token": {
			"a line break from a file", Config{URL: "http://h", Auth: Authentication{Token: "s3cret\n"}},
			"cannot use the broker's credentials: the token holds a space, a line break or another character that a header cannot carry: only visible ASCII is allowed",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := New(test.config)
			assert.EqualError(t, err, test.want, test.reason)
			assert.NotContains(t, err.Error(), "s3cret")
		})
	}
	for text, want := range map[string]string{
		"http://h": "http://h", "https://h:8443/": "https://h:8443", "http://[::1]:80/a/b//": "http://[::1]:80/a/b", "http://h/a%2Fb/": "http://h/a%2Fb",
	} {
		base, err := baseURL(text)
		require.NoError(t, err)
		assert.Equal(t, want, base)
	}
}

func TestAuthentication(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		reason string
		auth   Authentication
		header string
	}{
		"None":         {"nothing is sent", Authentication{}, ""},
		"Basic":        {"the usual way", Authentication{Username: "ann", Password: "s3cret"}, "Basic YW5uOnMzY3JldA=="},
		"OnlyUsername": {"is basic", Authentication{Username: "ann"}, "Basic YW5uOg=="},
		"OnlyPassword": {"is basic", Authentication{Password: "s3cret"}, "Basic OnMzY3JldA=="},
		"Bearer":       {"agreed out of band", Authentication{Token: "s3cret"}, "Bearer s3cret"},
		"Both":         {"basic goes first", Authentication{Username: "ann", Token: "s3cret"}, "Basic YW5uOg=="},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			broker := &recorder{}
			client := serve(t, broker, func(c *Config) { c.Auth = test.auth })
			for _, operation := range operations() {
				broker.answer(401, "")
				_, err := operation.call(t.Context(), client)
				assert.Equal(t, Auth, KindOf(err))
				assert.Equal(t, test.header, broker.seen()[0].Header.Get("Authorization"), test.reason)
			}
		})
	}
}

// TestNothingPrintsASecret prints everything that holds one in every way.
func TestNothingPrintsASecret(t *testing.T) {
	t.Parallel()
	const encoded = "YW5uOnMzY3JldC1wYXNz" // ann:s3cret-pass
	for _, auth := range []Authentication{{Username: "ann", Password: "s3cret-pass"}, {Token: "s3cret-pass"}} {
		broker := &recorder{}
		client := serve(t, broker, func(c *Config) { c.Auth = auth })
		// The broker sends back what it was sent.
		broker.answer(403, `{"error":"s3cret-pass","description":"bad Authorization: `+auth.header()+` / s3cret-pass"}`)
		_, err := client.Provision(t.Context(), completeRequests().provision)
		require.Error(t, err)
		broker.answer(200, `{"state":"failed","description":"s3cret-pass"}`)
		operation, polled := client.Poll(t.Context(), completeRequests().poll)
		require.NoError(t, polled)
		config := Config{Auth: auth}
		for _, value := range []any{auth, &auth, config, &config, client, *client, err, failure(t, err), operation} {
			for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
				text := fmt.Sprintf(verb, value)
				for _, secret := range []string{"s3cret", fmt.Sprintf("%x", "s3cret"), encoded} {
					assert.NotContains(t, text, secret, "%s of %T", verb, value)
				}
			}
		}
		marshalled, err := json.Marshal(map[string]any{"auth": auth})
		require.NoError(t, err)
		assert.NotContains(t, string(marshalled), "s3cret")
		assert.Contains(t, auth.String(), "redacted")
		assert.Equal(t, "none", Authentication{}.GoString())
	}
}

func TestBound(t *testing.T) {
	t.Parallel()
	assert.Equal(t, int64(7), bound(0, 7))
	assert.Equal(t, int64(7), bound(-1, 7))
	assert.Equal(t, int64(5), bound(5, 7))
	assert.Equal(t, int64(1<<30), bound(math.MaxInt64, 7), "one byte more is read to see that there are more")
}

// TestScrubberKnowsHowSecretsAreWritten: a broker may echo a password in another way than it was sent.
func TestScrubberKnowsHowSecretsAreWritten(t *testing.T) {
	scrub := Authentication{Username: "bob", Password: `Pa55/Wörd&"9x`}.scrubber()
	for _, echo := range []string{`Pa55/Wörd&"9x`, `Pa55/Wörd&\"9x`, `Pa55\/Wörd&\"9x`, `Pa55/W\u00f6rd&\"9x`, `Pa55/Wörd\u0026\"9x`, "Pa55/Wörd&amp;&#34;9x"} {
		assert.Equal(t, "who is bob:(redacted)?", scrub.Replace("who is bob:"+echo+"?"))
	}
}
