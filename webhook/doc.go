// Package webhook turns admission requests into calls of packages resolve and
// merge, and their answers into patches, warnings and denials.
//
// It decides once and has no side effect: it reads its cache, and the API server
// where freshness matters, and writes nothing. A failure of its own is HTTP 500,
// never a refusal. No log line, denial or warning holds a parameter's value.
package webhook
