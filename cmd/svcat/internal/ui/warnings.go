package ui

import (
	"context"
	"slices"
	"sync"

	"k8s.io/client-go/rest"
)

// heard collects the API server's warnings for the request that asked: see listenFor.
type heard struct{}

// warnings are those that the API server gave to one request.
type warnings struct {
	mutex sync.Mutex
	texts []string
}

type warningsKey struct{}

// miscellaneous is the code of every warning that an API server gives.
const miscellaneous = 299

// listenFor is a context whose requests' warnings are collected.
func listenFor(ctx context.Context) (context.Context, *warnings) {
	collected := &warnings{}
	return context.WithValue(ctx, warningsKey{}, collected), collected
}

// HandleWarningHeaderWithContext takes one warning in, once.
func (heard) HandleWarningHeaderWithContext(ctx context.Context, code int, _, text string) {
	collected, ok := ctx.Value(warningsKey{}).(*warnings)
	if !ok || code != miscellaneous || text == "" {
		return
	}
	collected.mutex.Lock()
	defer collected.mutex.Unlock()
	if !slices.Contains(collected.texts, text) {
		collected.texts = append(collected.texts, text)
	}
}

var _ rest.WarningHandlerWithContext = heard{}
