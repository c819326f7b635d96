// Package addresses says where nothing that a namespace's users choose may lead the controller, or a Service that it makes:
// to a machine itself, to its neighbours, to a cloud's metadata service, to the API server, however the address is written.
// It is pure, and one list for the brokers of namespaces and for the Services of bindings.
package addresses
