// Package review serves AdmissionReviews over HTTP. A Handler handles one
// request of one kind; the package decodes the request, recovers panics of the
// handler, and turns its Result into the response: a Denial, or a JSON patch,
// warnings and audit annotations. Each decision is one log line, one count in
// the metrics and one span.
//
// It knows no rule of admission: what is allowed is decided by package webhook.
package review
