// Package addresses lists the addresses that users of a namespace must not
// direct the controller, or a Service that it creates, to: a machine itself,
// its neighbours, a cloud's metadata service and the API server, in every
// notation. It is pure. The same list applies to the brokers of namespaces and
// to the Services of bindings.
package addresses
