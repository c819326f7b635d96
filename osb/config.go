package osb

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/google/uuid"
)

// What holds where a Config says nothing.
const (
	// DefaultTimeout is what the specification calls typical.
	DefaultTimeout = time.Minute
	// DefaultAPIVersion is the newest that this package speaks.
	DefaultAPIVersion = "2.17"
	// DefaultMaxBody bounds every answer but catalogs, in bytes.
	DefaultMaxBody = 4 << 20
	// DefaultMaxCatalog bounds a catalog, in bytes.
	DefaultMaxCatalog = 32 << 20
	// DefaultMaxValues bounds the members of lists and objects in every answer but
	// catalogs: what a broker writes in three bytes takes hundreds of them in memory.
	DefaultMaxValues = 100_000
	// DefaultMaxCatalogValues bounds those of a catalog.
	DefaultMaxCatalogValues = 2_000_000
	// DefaultMaxPlans bounds the plans of a catalog, and its services.
	DefaultMaxPlans = 100_000
)

// A Config says where a broker is and how to speak to it. Only URL is required.
type Config struct {
	// URL is the broker's, http or https, with or without a path prefix and a slash at
	// its end; without userinfo, query and fragment.
	URL string
	// Auth is sent on every request.
	Auth Authentication
	// CABundle holds certificates in PEM that are trusted besides the system's.
	CABundle []byte
	// InsecureSkipVerify takes any certificate.
	InsecureSkipVerify bool
	// ClientCertificate is shown to brokers that ask for one; nil: none.
	ClientCertificate *tls.Certificate
	// Timeout is of one request, from looking up the name to the end of the answer; 0:
	// DefaultTimeout.
	Timeout time.Duration
	// APIVersion is what X-Broker-API-Version says; empty: DefaultAPIVersion.
	APIVersion string
	// MaxBody and MaxCatalog are the most bytes that an answer and a catalog may have;
	// 0: DefaultMaxBody and DefaultMaxCatalog. At most 1 GiB.
	MaxBody, MaxCatalog int64
	// MaxValues and MaxCatalogValues are the most members that lists and objects in them
	// may have, all together; 0: DefaultMaxValues and DefaultMaxCatalogValues.
	MaxValues, MaxCatalogValues int
	// MaxPlans is how many plans a catalog may have in all, and how many services; 0:
	// DefaultMaxPlans.
	MaxPlans int
	// Dial opens connections, to a proxy where there is one; nil: the net package does.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
	// Direct has connections made to the broker itself, whatever proxy the environment
	// names: Dial then sees where they go.
	Direct bool
	// Wrap is put around what sends requests, to watch it; nil: nothing. What it makes
	// passes CloseIdleConnections on.
	Wrap func(http.RoundTripper) http.RoundTripper
	// NewRequestID mints X-Broker-API-Request-Identity; nil: random UUIDs.
	NewRequestID func() string
	// Now is the clock for a Retry-After that names a time, where the answer has no Date
	// of its own; nil: time.Now.
	Now func() time.Time
}

// New is a client of the broker that the Config describes. It connects to nothing
// yet. An error names the field and says what is allowed in it.
func New(config Config) (*Client, error) {
	base, err := baseURL(config.URL)
	if err != nil {
		return nil, fmt.Errorf("cannot use the broker's URL: %w", err)
	}
	if err := config.Auth.check(); err != nil {
		return nil, fmt.Errorf("cannot use the broker's credentials: %w", err)
	}
	transport, err := newTransport(config)
	if err != nil {
		return nil, err
	}
	var transported http.RoundTripper = transport
	if config.Wrap != nil {
		transported = config.Wrap(transport)
	}
	return &Client{
		broker: &sender{
			http:         &http.Client{Transport: transported, CheckRedirect: stay},
			base:         base,
			version:      cmp.Or(config.APIVersion, DefaultAPIVersion),
			timeout:      cmp.Or(config.Timeout, DefaultTimeout),
			limit:        limit{bytes: bound(config.MaxBody, DefaultMaxBody), values: cmp.Or(config.MaxValues, DefaultMaxValues)},
			authorize:    config.Auth.set(),
			scrub:        config.Auth.scrubber(),
			newRequestID: orFunc(config.NewRequestID, uuid.NewString),
			now:          orFunc(config.Now, time.Now),
		},
		catalogLimit: limit{
			bytes: bound(config.MaxCatalog, DefaultMaxCatalog), values: cmp.Or(config.MaxCatalogValues, DefaultMaxCatalogValues),
			plans: cmp.Or(config.MaxPlans, DefaultMaxPlans),
		},
	}, nil
}

// stay follows no redirection: net/http would turn a PUT into a GET on the way, and
// the credentials would go wherever the broker says.
func stay(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// baseURL is the URL without slashes at its end. Its errors do not repeat it, for it
// may hold a password where none belongs.
func baseURL(text string) (string, error) {
	const allowed = "; allowed is http:// or https://, a host, and perhaps a port and a path"
	u, err := url.Parse(text)
	if err != nil {
		return "", errors.New("it is not a URL" + allowed)
	}
	wrong := ""
	switch {
	case u.Scheme != "http" && u.Scheme != "https":
		wrong = "its scheme is neither http nor https"
	case u.User != nil:
		wrong = "it holds a username or a password, which belong into a Secret"
	case u.Hostname() == "" || u.Opaque != "":
		wrong = "it has no host"
	case u.RawQuery != "" || u.ForceQuery:
		wrong = "it has a query"
	case u.Fragment != "" || strings.Contains(text, "#"):
		wrong = "it has a fragment"
	}
	if wrong != "" {
		return "", errors.New(wrong + allowed)
	}
	return u.Scheme + "://" + u.Host + strings.TrimRight(u.EscapedPath(), "/"), nil
}

// bound is a limit in bytes. No body is without one.
func bound(limit, otherwise int64) int64 {
	const most = 1 << 30
	if limit <= 0 {
		return otherwise
	}
	return min(limit, most)
}

func orFunc[T any](value, otherwise func() T) func() T {
	if value == nil {
		return otherwise
	}
	return value
}
