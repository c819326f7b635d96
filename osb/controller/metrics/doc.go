// Package metrics exports what the controller does and how things stand: counters of calls
// to brokers and of relists, and a census of brokers, instances and bindings at each
// scrape. It knows no reconciler: they pass it plain values.
package metrics
