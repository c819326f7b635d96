package review

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"runtime/debug"
	"slices"
	"strconv"

	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
	kjson "sigs.k8s.io/json"
)

// A Registrar serves handlers at paths; the webhook server of controller-runtime
// is one.
type Registrar interface {
	Register(path string, handler http.Handler)
}

// maxReview bounds the body of one review, in bytes. The API server takes
// objects of up to 3 MiB and sends the old and the new one.
const maxReview = 8 << 20

// maxUID bounds the uid of a request, in bytes: it is repeated in the answer and in the log.
const maxUID = 128

const (
	// maxText bounds each text that says what a review is about and who asks, in bytes: answers and the log repeat them.
	// Names of objects have at most 253, and users are called by the subject of a certificate or token.
	maxText = 1 << 10
	// maxUser bounds the groups and the extra of a user together, in bytes: an object records them, beside its own spec.
	maxUser = 1 << 20
)

// A decider answers one admission request. An error means an internal failure
// (HTTP 500), not a denial.
type decider func(ctx context.Context, req *admission.Request) (admission.Response, error)

// An endpoint serves one decider over HTTP. Unlike controller-runtime's
// admission.Webhook it reports an internal failure as HTTP 500, so that the API
// server applies failurePolicy, and never as a denial.
type endpoint struct {
	decide decider
}

// ServeHTTP answers one AdmissionReview of admission.k8s.io/v1.
func (e endpoint) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	ctx := withClient(fromCaller(r.Context(), r.Header), r.TLS)
	defer survive(ctx, w, r)
	req, err := readReview(w, r)
	if err != nil {
		http.Error(w, err.Error(), err.code)
		return
	}
	response, failure := e.decide(ctx, req)
	if failure != nil {
		log.FromContext(ctx).Error(failure, "cannot answer admission request", "path", r.URL.Path, "uid", req.UID, "client", clientOf(ctx))
		http.Error(w, "cannot answer: "+failure.Error(), http.StatusInternalServerError)
		return
	}
	writeReview(w, req, response)
}

// survive recovers a panic outside of the handler. A panic fails one request,
// not the process, and its text is dropped, because it may quote the object.
func survive(ctx context.Context, w http.ResponseWriter, r *http.Request) {
	if recover() == nil {
		return
	}
	log.FromContext(ctx).Error(errPanic, "admission handler panicked", "path", r.URL.Path, "client", clientOf(ctx), "stack", string(debug.Stack()))
	http.Error(w, "internal error", http.StatusInternalServerError)
}

var errPanic = errors.New("internal error")

// A reviewError is a body that is no admission review.
type reviewError struct {
	code int
	text string
}

func (b *reviewError) Error() string { return b.text }

func readReview(w http.ResponseWriter, r *http.Request) (*admission.Request, *reviewError) {
	if r.Method != http.MethodPost {
		return nil, &reviewError{http.StatusMethodNotAllowed, fmt.Sprintf("method %s is not allowed: send an AdmissionReview by POST", r.Method)}
	}
	if !isJSON(r.Header.Get("Content-Type")) {
		return nil, &reviewError{http.StatusUnsupportedMediaType, "the content type must be application/json"}
	}
	body, err := readBody(w, r)
	if tooLarge := (*http.MaxBytesError)(nil); errors.As(err, &tooLarge) {
		return nil, &reviewError{http.StatusRequestEntityTooLarge, fmt.Sprintf("the review is larger than %d bytes", maxReview)}
	}
	if err != nil {
		return nil, &reviewError{http.StatusBadRequest, "cannot read the body"}
	}
	review := &admissionv1.AdmissionReview{}
	// The decoder's own text may quote the body.
	if kjson.UnmarshalCaseSensitivePreserveInts(body, review) != nil || !isReview(review) {
		return nil, &reviewError{http.StatusBadRequest, "the body is not an AdmissionReview of admission.k8s.io/v1"}
	}
	if review.Request == nil || review.Request.UID == "" || len(review.Request.UID) > maxUID {
		return nil, &reviewError{http.StatusBadRequest, fmt.Sprintf("the AdmissionReview has no request with a uid of at most %d bytes", maxUID)}
	}
	if !isShort(review.Request) {
		return nil, &reviewError{http.StatusBadRequest, fmt.Sprintf("the AdmissionReview has a name, kind or user of more than %d bytes, or one with groups and extra of more than %d", maxText, maxUser)}
	}
	return &admission.Request{AdmissionRequest: *review.Request}, nil
}

// isShort says whether names and user of a review are no longer than Kubernetes
// allows.
func isShort(req *admissionv1.AdmissionRequest) bool {
	texts := []string{
		req.Kind.Group, req.Kind.Version, req.Kind.Kind, req.Resource.Group, req.Resource.Version, req.Resource.Resource, req.SubResource,
		req.Name, req.Namespace, string(req.Operation), req.UserInfo.Username, req.UserInfo.UID,
	}
	if slices.ContainsFunc(texts, func(text string) bool { return len(text) > maxText }) {
		return false
	}
	size := 0
	for _, group := range req.UserInfo.Groups {
		size += len(group)
	}
	for key, values := range req.UserInfo.Extra {
		size += len(key)
		for _, value := range values {
			size += len(value)
		}
	}
	return size <= maxUser
}

func isJSON(contentType string) bool {
	if contentType == "application/json" {
		return true
	}
	media, _, err := mime.ParseMediaType(contentType)
	return err == nil && media == "application/json"
}

func isReview(review *admissionv1.AdmissionReview) bool {
	return review.APIVersion == admissionv1.SchemeGroupVersion.String() && review.Kind == "AdmissionReview"
}

// usualReview bounds the memory that is allocated by Content-Length alone.
const usualReview = 64 << 10

// readBody reads a body into a buffer of the request's Content-Length.
func readBody(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	var body bytes.Buffer
	body.Grow(int(min(max(r.ContentLength, 0), usualReview)) + bytes.MinRead)
	_, err := body.ReadFrom(http.MaxBytesReader(w, r.Body, maxReview))
	return body.Bytes(), err
}

func writeReview(w http.ResponseWriter, req *admission.Request, response admission.Response) {
	if err := response.Complete(*req); err != nil {
		http.Error(w, "cannot encode the patch", http.StatusInternalServerError)
		return
	}
	var body bytes.Buffer
	encoder := json.NewEncoder(&body)
	// Otherwise each '<' takes six bytes.
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(admissionv1.AdmissionReview{
		TypeMeta: metav1.TypeMeta{APIVersion: admissionv1.SchemeGroupVersion.String(), Kind: "AdmissionReview"},
		Response: &response.AdmissionResponse,
	}); err != nil {
		http.Error(w, "cannot encode the answer", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	// Otherwise a long response is sent in chunks.
	w.Header().Set("Content-Length", strconv.Itoa(body.Len()))
	// An error here means that the API server hung up: there is no one to tell.
	_, _ = w.Write(body.Bytes())
}
