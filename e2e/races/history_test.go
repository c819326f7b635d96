package races_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"sync"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/e2e/offering"
	"github.com/defaultplan/defaultplan/e2e/stack/wait"
)

// A history is every state that the plans and the record of a contest were in.
// Two lists are no snapshot; but the events of two watches, put in the order of
// the revisions that etcd gave them, are all that ever was, one after the other.
type history struct {
	contest *contest

	mu sync.Mutex
	// events are those that were not replayed yet, and versions what the last one
	// of each object left.
	events   []event
	versions map[string]string
	// waiting are told of events to come.
	waiting []*countdown
	// err is why there will be no more events.
	err error

	// now is the state as of the last replay, and from its revision.
	now  offering.Catalogue
	from int64
	// moments are the states up to then.
	moments []moment
}

// An event is one write that was stored.
type event struct {
	revision int64
	key      string
	// object is nil when it was deleted.
	object client.Object
}

// A countdown closes struck after left more events.
type countdown struct {
	left   int
	struck chan struct{}
}

// watchHistory begins a history, which ends with the test.
func watchHistory(c *contest) *history {
	c.Helper()
	h := &history{contest: c, versions: map[string]string{}, now: offering.Catalogue{}}
	plans, serviceTypes := c.Lists()
	lists := []client.ObjectList{plans, serviceTypes}
	for _, list := range lists {
		require.NoError(c, c.Client().List(c.Context(), list, client.InNamespace(c.class.Namespace)))
		require.NoError(c, meta.EachListItem(list, h.now.Put))
		h.from = revisionOf(list.GetResourceVersion())
	}
	for key, object := range h.now {
		h.versions[key] = object.GetResourceVersion()
	}
	h.moments = []moment{momentOf(h.now, c, h.from)}
	for _, list := range lists {
		stream, err := c.Client().Watch(c.Context(), list, client.InNamespace(c.class.Namespace),
			&client.ListOptions{Raw: &metav1.ListOptions{ResourceVersion: list.GetResourceVersion()}})
		require.NoError(c, err)
		go h.listen(c.Context(), stream)
		c.Cleanup(stream.Stop)
	}
	return h
}

func (h *history) listen(ctx context.Context, stream watch.Interface) {
	for event := range stream.ResultChan() {
		if err := h.heard(event); err != nil {
			h.fail(err)
			return
		}
	}
	if ctx.Err() == nil {
		h.fail(errors.New("the API server ended a watch"))
	}
}

func (h *history) fail(err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.err = err
}

// heard remembers an event.
func (h *history) heard(e watch.Event) error {
	object, ok := e.Object.(client.Object)
	if !ok {
		return fmt.Errorf("cannot watch: %v", e.Object)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	happened := event{revision: revisionOf(object.GetResourceVersion()), key: offering.KeyOf(object), object: object}
	h.versions[happened.key] = object.GetResourceVersion()
	if e.Type == watch.Deleted {
		happened.object = nil
		delete(h.versions, happened.key)
	}
	h.events = append(h.events, happened)
	for _, c := range h.waiting {
		if c.left--; c.left == 0 {
			close(c.struck)
		}
	}
	return nil
}

// after closes the channel that it returns as soon as n more events happened.
func (h *history) after(n int) <-chan struct{} {
	h.mu.Lock()
	defer h.mu.Unlock()
	c := &countdown{left: n, struck: make(chan struct{})}
	h.waiting = append(h.waiting, c)
	return c.struck
}

// replay waits until nothing that is stored is missing, and returns the moments
// since the last time. Nothing should be written meanwhile.
func (h *history) replay() []moment {
	c := h.contest
	c.Helper()
	until := int64(0)
	require.NoError(c, wait.Eventually(c.Context(), func() (done bool, err error) {
		until, done, err = h.complete()
		return done, err
	}))
	h.mu.Lock()
	defer h.mu.Unlock()
	slices.SortStableFunc(h.events, func(a, b event) int { return cmp.Compare(a.revision, b.revision) })
	first := len(h.moments)
	for len(h.events) > 0 && h.events[0].revision <= until {
		happened := h.events[0]
		h.events = h.events[1:]
		if happened.object == nil {
			delete(h.now, happened.key)
		} else {
			h.now[happened.key] = happened.object
		}
		// What is older than the second of the first lists is part of the first
		// moment.
		if happened.revision > h.moments[0].revision {
			h.moments = append(h.moments, momentOf(h.now, c, happened.revision))
		}
	}
	h.from = max(h.from, until)
	return slices.Clone(h.moments[first:])
}

// complete says whether all events up to a revision are here.
func (h *history) complete() (until int64, done bool, err error) {
	plans, serviceTypes := h.contest.Lists()
	stored := map[string]string{}
	for _, list := range []client.ObjectList{plans, serviceTypes} {
		if err := h.contest.Client().List(h.contest.Context(), list, client.InNamespace(h.contest.class.Namespace)); err != nil {
			return 0, false, err
		}
		err := meta.EachListItem(list, func(item runtime.Object) error {
			object, ok := item.(client.Object)
			if ok {
				stored[offering.KeyOf(object)] = object.GetResourceVersion()
			}
			return nil
		})
		if err != nil {
			return 0, false, err
		}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.err != nil {
		return 0, true, h.err
	}
	if !maps.Equal(stored, h.versions) {
		return 0, false, errors.New("events are on their way")
	}
	// The second list is the later one: both are complete up to the first.
	return revisionOf(plans.GetResourceVersion()), true, nil
}

// during are the states from one revision to another: what was at the first, and
// all that came up to the last.
func (h *history) during(from, to int64) []moment {
	h.mu.Lock()
	defer h.mu.Unlock()
	first, found := slices.BinarySearchFunc(h.moments, from, func(m moment, revision int64) int { return cmp.Compare(m.revision, revision) })
	last, exact := slices.BinarySearchFunc(h.moments, to, func(m moment, revision int64) int { return cmp.Compare(m.revision, revision) })
	if !found && first > 0 {
		first--
	}
	if exact {
		last++
	}
	return h.moments[first:last]
}

// revisionOf is the revision that a resource version stands for.
func revisionOf(version string) int64 {
	revision, err := strconv.ParseInt(version, 10, 64)
	if err != nil {
		panic(err)
	}
	return revision
}
