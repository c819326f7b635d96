// Package osb speaks the Open Service Broker API, 2.13 to 2.17, as a platform does:
// catalogs, provisioning, updating, deprovisioning, binding, unbinding, fetching and
// polling, over HTTP. It knows nothing of Kubernetes, keeps nothing and retries
// nothing: each method sends one request and tells what came of it.
//
// It reads leniently (unknown fields, absent content types, nulls where a value is
// optional) and writes strictly. What went wrong is an *Error, whose Kind is one of a
// small vocabulary; no error, and nothing else that this package prints, holds a
// credential or a parameter.
//
// The specification is "Open Service Broker API" v2.17; the comments call its parts
// by their headings.
package osb
