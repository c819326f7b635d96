package catalog

import (
	"context"
	"time"

	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/resolve"
	"github.com/defaultplan/defaultplan/webhook/coalesce"
)

// settling is how long a class counts as new: its plans may still be created,
// so "its only plan" is read live.
const settling = time.Minute

// A Catalog reads the part of the catalog that a request can mean. The fast
// answer is the cache's, except for what must be fresh (docs/choosing.md);
// the live answer is the API server's.
type Catalog struct {
	Cached client.Reader
	Live   client.Reader
	// current says whether the API server was heard of lately on the watches that keep the
	// cache. While it was not, a choice by type is the API server's.
	current func() bool
	clock   clock.PassiveClock
	reads   coalesce.Reads[Slice]
}

// New returns the catalog that the two readers show. Without current, the cache is never
// taken for current.
func New(cached, live client.Reader, current func() bool, now clock.PassiveClock) *Catalog {
	if current == nil {
		current = func() bool { return false }
	}
	return &Catalog{Cached: cached, Live: live, current: current, clock: now}
}

// A Slice is a piece of the catalog as one scope gives it.
type Slice struct {
	resolve.Catalog
	// newest is when the youngest class of the slice was created.
	newest time.Time
}

func (p *Slice) add(others ...Slice) {
	for _, other := range others {
		p.Classes = append(p.Classes, other.Classes...)
		p.Plans = append(p.Plans, other.Plans...)
		p.Records = append(p.Records, other.Records...)
		if other.newest.After(p.newest) {
			p.newest = other.newest
		}
	}
}

// A Filter prepares what was found of the catalog for a request: what it is not to
// see is hidden. To refuse it, what policies deny it is marked, so that a refusal
// does not advise a plan that would be refused next. A selector always passes over
// what is denied.
type Filter func(ctx context.Context, req *resolve.Request, found *Slice, toRefuse bool) error
