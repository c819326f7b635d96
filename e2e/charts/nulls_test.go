package charts_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// What becomes of a null between Helm's values and the broker. At creation it takes the
// default away, and stays in spec; the broker is not sent it. Later there is no default
// any more, and what is sent is what the user says: null. Helm 3 upgrades by a merge
// patch, in which null means to leave the key out.
func TestNullsOverDefaults(t *testing.T) {
	t.Parallel()
	const written, named = `{"parameters": {"sslEnforcement": null}}`, `{"database": {"withoutDefaults": ["sslEnforcement"]}}`
	for name, test := range map[string]struct {
		reason string
		binary string
		// values are those of the install, and later those of an upgrade; empty: none.
		values, later string
		// stored is what spec has of the key and sent what the broker has: null or absent.
		stored, sent string
	}{
		"Helm4Install": {
			reason: "a null in the values reaches the API server", binary: "helm", values: written, stored: "null", sent: "absent",
		},
		"Helm4InstallWithout": {
			reason: "withoutDefaults makes the same null", binary: "helm", values: named, stored: "null", sent: "absent",
		},
		"Helm4Upgrade": {
			reason: "server-side apply writes a null", binary: "helm", later: named, stored: "null", sent: "null",
		},
		"Helm3Install": {
			reason: "as Helm 4", binary: "helm3", values: written, stored: "null", sent: "absent",
		},
		"Helm3Upgrade": {
			reason: "a merge patch cannot write a null, and takes the key out", binary: "helm3", later: named, stored: "absent", sent: "absent",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := newEnv(t)
			e.helmWith(test.binary, "install", test.values)
			if test.later != "" {
				e.helmWith(test.binary, "upgrade", test.later)
			}
			assert.Equal(t, test.stored, kindOf(e.parameters("blog-db"), "sslEnforcement"), test.reason)
			assert.Equal(t, test.sent, kindOf(e.atBroker(azure, "blog-db"), "sslEnforcement"), test.reason)
			assert.Equal(t, "eastus", e.atBroker(azure, "blog-db")["location"], "the other defaults stay")
		})
	}
}

// helmWith installs or upgrades the example with values, and waits for its database.
func (e *testEnv) helmWith(binary, verb, values string) {
	e.Helper()
	args := []string{verb, "blog", wordpress()}
	if values != "" {
		args = append(args, "-f", e.text(values))
	}
	e.must(binary, args...)
	e.ready(e.an("ServiceInstance", "blog-db"))
}

// kindOf says how an object has a key: null, value or absent.
func kindOf(o object, key string) string {
	value, is := o[key]
	switch {
	case !is:
		return "absent"
	case value == nil:
		return "null"
	}
	return "value"
}
