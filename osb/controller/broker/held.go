package broker

import (
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/types"

	"github.com/defaultplan/defaultplan/osb"
)

// heldInSum bounds the cached catalogs, in bytes as brokers sent them: each may
// have 32 MiB, and users who may create ServiceBrokers may create many.
const heldInSum = 64 << 20

// A heldCatalog is the cached catalog of a broker that sends validators such as
// an ETag: it serves for a "304 Not Modified".
type heldCatalog struct {
	key        Key
	uid        types.UID
	generation int64
	catalog    *osb.Catalog
}

// heldCatalogs are the cached catalogs of all brokers, up to a number of bytes.
// A dropped catalog is fetched completely again.
type heldCatalogs struct {
	most int

	mutex sync.Mutex
	bytes int
	// all has the one that was held first in front.
	all []heldCatalog
}

// of is the catalog that is held of a broker as it is, or nil.
func (h *heldCatalogs) of(b Broker) *osb.Catalog {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	key := keyOfBroker(b.object)
	for _, held := range h.all {
		if held.key == key && held.uid == b.object.GetUID() && held.generation == b.object.GetGeneration() {
			return held.catalog
		}
	}
	return nil
}

// hold holds a catalog of a broker in place of the last one, and drops the oldest where they
// are too much.
func (h *heldCatalogs) hold(b Broker, catalog *osb.Catalog) {
	key := keyOfBroker(b.object)
	h.drop(key)
	h.mutex.Lock()
	defer h.mutex.Unlock()
	h.all = append(h.all, heldCatalog{key, b.object.GetUID(), b.object.GetGeneration(), catalog})
	h.bytes += catalog.Size
	for h.bytes > h.most {
		h.remove(0)
	}
}

// drop removes a broker's catalog.
func (h *heldCatalogs) drop(key Key) {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	if at := slices.IndexFunc(h.all, func(held heldCatalog) bool { return held.key == key }); at >= 0 {
		h.remove(at)
	}
}

func (h *heldCatalogs) remove(at int) {
	h.bytes -= h.all[at].catalog.Size
	h.all = slices.Delete(h.all, at, at+1)
}
