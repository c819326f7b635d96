// Package expose builds a Service and its EndpointSlices from the endpoints
// that a broker returned, or says why not. It is pure: endpoints and rules go
// in, objects or a refusal come out. It resolves no name and reads nothing.
//
// Clients trust the name of a Service, and the controller may write Services in
// every namespace. So this package decides what such a Service may lead to:
// never to the API server, a machine itself, a cloud's metadata, or anything
// within the cluster, in any notation, unless the operator allows it.
package expose
