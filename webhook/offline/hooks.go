package offline

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"

	admissionv1 "k8s.io/api/admission/v1"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	webhookerrors "k8s.io/apiserver/pkg/admission/plugin/webhook/errors"
	"sigs.k8s.io/yaml"

	"github.com/defaultplan/defaultplan/deploy"
	"github.com/defaultplan/defaultplan/webhook"
	"github.com/defaultplan/defaultplan/webhook/options"
)

// askedBeforeAnew is the number of reviews after which the handlers are created
// again. They count requests for a rate limit, which does not apply here.
const askedBeforeAnew = 100

// hooks are the shipped hook configurations, and the webhook that they call.
type hooks struct {
	readers webhook.Readers
	options *options.Options

	// mutating and validating are the entries by resource.
	mutating, validating map[string]*hook
	handlers             registrar
	asked                int
}

// A hook is one entry of a hook configuration.
type hook struct {
	name, path string
	conditions []admissionregistrationv1.MatchCondition
	matches    matcher
}

// A registrar holds handlers by their paths.
type registrar map[string]http.Handler

// Register takes in a handler.
func (r registrar) Register(path string, handler http.Handler) { r[path] = handler }

func newHooks(readers webhook.Readers, options *options.Options) (*hooks, error) {
	shipped, err := shippedHooks()
	if err != nil {
		return nil, err
	}
	return shipped.clone(readers, options), nil
}

// shippedHooks reads the configurations once for all clusters: they never change.
var shippedHooks = sync.OnceValues(func() (*hooks, error) {
	h := &hooks{mutating: map[string]*hook{}, validating: map[string]*hook{}}
	shipped, err := deploy.Manifests.ReadFile("hooks/manifests.yaml")
	if err != nil {
		return nil, fmt.Errorf("cannot read the hook configurations: %w", err)
	}
	for document := range strings.SplitSeq(string(shipped), "\n---\n") {
		if err := h.add([]byte(document)); err != nil {
			return nil, fmt.Errorf("cannot read the hook configurations: %w", err)
		}
	}
	return h, nil
})

// add takes in one configuration. What matters here has the same fields in both
// kinds.
func (h *hooks) add(document []byte) error {
	var configuration admissionregistrationv1.ValidatingWebhookConfiguration
	if err := yaml.Unmarshal(document, &configuration); err != nil {
		return err
	}
	entries := h.validating
	if configuration.Kind == "MutatingWebhookConfiguration" {
		entries = h.mutating
	}
	for _, entry := range configuration.Webhooks {
		for _, rule := range entry.Rules {
			for _, resource := range rule.Resources {
				entries[resource] = &hook{name: entry.Name, path: *entry.ClientConfig.Service.Path, conditions: entry.MatchConditions}
			}
		}
	}
	return nil
}

// clone are the same hooks of a webhook with other readers and options.
func (h *hooks) clone(readers webhook.Readers, options *options.Options) *hooks {
	copied := &hooks{readers: readers, options: options, mutating: h.mutating, validating: h.validating}
	copied.serve()
	return copied
}

func (h *hooks) serve() {
	h.handlers, h.asked = registrar{}, 0
	webhook.Register(h.handlers, h.readers, h.options)
}

// call asks the webhook about a write if the hook's conditions say so; the answer
// is nil if not. An error is a failure of the webhook.
func (h *hooks) call(ctx context.Context, entry *hook, w *write) (*admissionv1.AdmissionResponse, error) {
	if entry == nil {
		return nil, nil
	}
	asks, err := entry.asks(ctx, w)
	if err != nil || !asks {
		return nil, err
	}
	if h.asked++; h.asked > askedBeforeAnew {
		h.serve()
	}
	review, err := w.review()
	if err != nil {
		return nil, err
	}
	answer, err := post(ctx, h.handlers[entry.path], entry.path, review)
	if err != nil {
		return nil, fmt.Errorf("cannot call webhook %q: %w", entry.name, err)
	}
	w.result.Warnings = append(w.result.Warnings, answer.Warnings...)
	if !answer.Allowed {
		w.result.Denied = webhookerrors.ToStatusErr(entry.name, answer.Result)
	}
	return answer, nil
}

// post sends a review to a handler, and reads its answer.
func post(ctx context.Context, handler http.Handler, path string, review *admissionv1.AdmissionReview) (*admissionv1.AdmissionResponse, error) {
	body, err := json.Marshal(review)
	if err != nil {
		return nil, fmt.Errorf("cannot encode the review: %w", err)
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, path, bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("cannot make a request: %w", err)
	}
	request.Header.Set("Content-Type", "application/json")
	response := &recorder{header: http.Header{}, code: http.StatusOK}
	handler.ServeHTTP(response, request)
	if response.code != http.StatusOK {
		return nil, fmt.Errorf("it answered %d: %s", response.code, strings.TrimSpace(response.body.String()))
	}
	answered := &admissionv1.AdmissionReview{}
	if err := json.Unmarshal(response.body.Bytes(), answered); err != nil || answered.Response == nil {
		return nil, fmt.Errorf("it answered no review: %w", err)
	}
	return answered.Response, nil
}

// A recorder keeps what a handler answers.
type recorder struct {
	header http.Header
	code   int
	body   bytes.Buffer
}

// Header is the answer's header.
func (r *recorder) Header() http.Header { return r.header }

// WriteHeader keeps the code of the answer.
func (r *recorder) WriteHeader(code int) { r.code = code }

// Write keeps the answer's body.
func (r *recorder) Write(body []byte) (int, error) { return r.body.Write(body) }
