package osb

import (
	"context"
	"net/http"
)

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
	a, err := c.send(ctx, call{
		operation: "fetch catalog", method: http.MethodGet, path: "/v2/catalog",
		etag: etag, limit: c.catalogLimit, good: good, absent: NotFound,
	})
	if err != nil || a.status == http.StatusNotModified {
		return nil, err
	}
	return a.catalog()
}
