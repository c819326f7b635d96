package broker

import (
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/types"

	"github.com/defaultplan/defaultplan/osb"
)

// heldInSum is how many bytes of catalogs, as brokers sent them, are held at most: each may
// have 32 MiB, and who may create ServiceBrokers may create many.
const heldInSum = 64 << 20

// A heldCatalog is the last one of a broker that sends validators: with it, "not
// modified" is as good as the catalog.
type heldCatalog struct {
	key        Key
	uid        types.UID
	generation int64
	catalog    *osb.Catalog
}

// heldCatalogs are those of all brokers, and have so many bytes at most. A broker whose
// catalog was dropped is asked for all of it.
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

// drop lets a broker's catalog go.
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
