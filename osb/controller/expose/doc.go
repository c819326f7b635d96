// Package expose turns what a broker says of where its service is into a Service and its
// EndpointSlices, or says why not. It is pure: endpoints and rules in, objects or a
// refusal out; it resolves no name and reads nothing.
//
// Who makes a Service makes a name that others trust, in the name of a controller that
// may write Services in every namespace. So it is decided here what such a Service may
// lead to: never to the API server, to a machine itself, to a cloud's metadata, or to
// what is within the cluster, unless the operator allows it; however it is written.
package expose
