package svcat_test

import (
	"slices"
	"strings"
	"sync"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
)

// A swap is a change of a record. The first of a round is none: it is what the record
// was before.
type swap struct{ from, to string }

// A recordHistory is all that a type's record ever was.
type recordHistory struct {
	*stall

	mu       sync.Mutex
	records  []string
	versions []string
}

// watchRecord begins a history, which ends with the test.
func (s *stall) watchRecord() *recordHistory {
	s.Helper()
	h := &recordHistory{stall: s}
	stream, err := s.Client().Watch(s.Context(), &api.ClusterServiceTypeList{}, client.MatchingFields{"metadata.name": s.kind})
	require.NoError(s, err)
	s.Cleanup(stream.Stop)
	go func() {
		for event := range stream.ResultChan() {
			kept, ok := event.Object.(*api.ClusterServiceType)
			if !ok {
				return
			}
			record, _ := recordIn(kept)
			h.mu.Lock()
			h.records = append(h.records, strings.TrimSuffix(record, "-"+s.Suffix))
			h.versions = append(h.versions, kept.ResourceVersion)
			h.mu.Unlock()
		}
	}()
	h.complete()
	return h
}

// complete waits until all that is stored was heard of.
func (h *recordHistory) complete() {
	h.Helper()
	h.Eventually(func() (bool, error) {
		kept := h.record()
		if err := h.Client().Get(h.Context(), client.ObjectKeyFromObject(kept), kept); err != nil {
			return false, err
		}
		h.mu.Lock()
		defer h.mu.Unlock()
		return slices.Contains(h.versions, kept.GetResourceVersion()), nil
	})
}

// begin forgets all but what is.
func (h *recordHistory) begin() {
	h.Helper()
	h.complete()
	h.mu.Lock()
	defer h.mu.Unlock()
	h.records, h.versions = h.records[len(h.records)-1:], h.versions[len(h.versions)-1:]
}

// swaps are the changes since then.
func (h *recordHistory) swaps() []swap {
	h.Helper()
	h.complete()
	h.mu.Lock()
	defer h.mu.Unlock()
	all := []swap{{h.records[0], h.records[0]}}
	for i, record := range h.records {
		if i > 0 && record != h.records[i-1] {
			all = append(all, swap{h.records[i-1], record})
		}
	}
	return all
}
