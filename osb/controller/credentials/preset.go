package credentials

import (
	"cmp"
	"strings"

	"github.com/defaultplan/defaultplan/api/v1beta1"
)

// The well-known keys of the Service Binding specification that say what a Secret is for.
const (
	keyType     = "type"
	keyProvider = "provider"
)

// wellKnown are the other keys of the Service Binding specification, and database, which
// it does not know; each with how brokers call the same, the likeliest first, in small
// letters and digits alone. "name" is a database's name for many brokers of databases.
var wellKnown = []struct {
	key   string
	names []string
}{
	{"host", []string{"hostname", "fqdn", "server", "servername", "address", "dbhost", "dbhostname"}},
	{"port", []string{"dbport", "serverport", "portnumber"}},
	{"uri", []string{"url", "connectionuri", "connectionurl", "databaseuri", "databaseurl", "dburi", "dburl"}},
	{"username", []string{"user", "login", "userid", "uid", "dbuser", "dbusername"}},
	{"password", []string{"pass", "passwd", "pwd", "secret", "dbpassword"}},
	{"database", []string{"databasename", "dbname", "db", "name", "schema"}},
	{"certificates", []string{"clientcert", "clientcertificate", "sslcert", "tlscert", "tlscrt", "cert", "certificate"}},
	{"private-key", []string{"clientkey", "sslkey", "tlskey"}},
}

// preset applies a preset to credentials: values are copied, not moved, for those who read
// them by their brokers' names.
func (p Origin) preset(t *v1beta1.PresetTransform, credentials map[string]credential) {
	keys := plainKeys(credentials)
	for _, known := range wellKnown {
		if _, has := credentials[known.key]; has {
			continue
		}
		// Its own name in another spelling is likelier than any other name.
		if from, ok := findKey(keys, append([]string{plainKey(known.key)}, known.names...)); ok {
			value := credentials[from]
			value.public = false
			credentials[known.key] = value
		}
	}
	set := func(key, wished, otherwise string) {
		if _, has := credentials[key]; wished == "" && (has || otherwise == "") {
			return
		}
		credentials[key] = credential{bytes: []byte(cmp.Or(wished, otherwise))}
	}
	set(keyType, t.Type, cmp.Or(p.ServiceType, p.Class))
	set(keyProvider, t.Provider, p.Class)
}

// plainKeys are the keys of credentials that are a text, a number or bytes, by how they are called whatever
// their case, and with or without dashes, dots and underscores; of several the first.
func plainKeys(credentials map[string]credential) map[string]string {
	keys := map[string]string{}
	for key := range credentials {
		plain := plainKey(key)
		if before, has := keys[plain]; (!has || key < before) && credentials[key].plain() {
			keys[plain] = key
		}
	}
	return keys
}

// findKey is the key that is called by the first of the names that one is.
func findKey(keys map[string]string, names []string) (string, bool) {
	for _, name := range names {
		if key, ok := keys[name]; ok {
			return key, true
		}
	}
	return "", false
}

// plainKey is a key in small letters and digits alone.
func plainKey(key string) string {
	return strings.Map(func(r rune) rune {
		if r == '-' || r == '_' || r == '.' || r == ' ' {
			return -1
		}
		return r
	}, strings.ToLower(key))
}

// plain says that a credential is no list, no object, and not null.
func (c credential) plain() bool {
	return c.json == nil || len(c.json) > 0 && !strings.ContainsRune("[{n", rune(c.json[0]))
}
