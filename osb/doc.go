// Package osb is an HTTP client of the Open Service Broker API, 2.13 to 2.17: catalogs,
// provisioning, updating, deprovisioning, binding, unbinding, fetching and polling. It
// does not depend on Kubernetes, is stateless and does not retry: each method sends one
// request and returns its result.
//
// It reads leniently (unknown fields, absent content types, null for an optional value)
// and writes strictly. A failure is an *Error, whose Kind is one of a small set; no error
// or other text of this package contains a credential or a parameter.
//
// The specification is "Open Service Broker API" v2.17; the comments call its parts
// by their headings.
package osb
