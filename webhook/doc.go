// Package webhook handles admission requests by packages resolve and merge, and
// turns their results into patches, warnings and denials.
//
// It decides once and has no side effect: it reads its cache, and the API server
// where freshness matters, and writes nothing. An internal failure is HTTP 500,
// never a denial. No log line, denial or warning contains a parameter's value.
package webhook
