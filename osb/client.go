package osb

import (
	"context"
	"net/http"
)

// A Client speaks to one broker. It is safe for use by many goroutines, keeps nothing
// but idle connections, and repeats no request. All its methods return an *Error, which
// KindOf reads. No field holds a credential, so that it may be printed.
type Client struct {
	broker       *sender
	catalogLimit limit
}

// Close closes the idle connections. The Client can be used on, and requests that run
// are not disturbed.
func (c *Client) Close() { c.broker.http.CloseIdleConnections() }

// maxETag is the longest validator that is kept: it is stored between requests.
const maxETag = 512

// Catalog asks the broker what it offers ("Catalog Management"). With the ETag of the
// last one, nil without an error means that nothing changed since. Services and plans
// that cannot be read are Skipped, and the others taken.
func (c *Client) Catalog(ctx context.Context, etag string) (*Catalog, error) {
	good := fetched
	if etag != "" {
		good = []int{http.StatusOK, http.StatusNotModified}
	}
	return send(ctx, c.broker, call{
		operation: "fetch catalog", method: http.MethodGet, path: "/v2/catalog",
		etag: etag, limit: c.catalogLimit, good: good, absent: NotFound,
	}, (*httpResponse).catalog)
}
