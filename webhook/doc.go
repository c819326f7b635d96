// Package webhook serves the admission of every kind: Register says what is served where,
// and Watched and Index what its cache holds. The packages below it admit one kind each
// (instance, binding, offering, policies) or have what several share.
//
// Admission decides once and has no side effect: it reads its cache, and the API server
// where freshness matters, and writes nothing. An internal failure is HTTP 500,
// never a denial. No log line, denial or warning contains a parameter's value.
package webhook
