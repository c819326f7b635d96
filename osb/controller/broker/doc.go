// Package broker reconciles brokers and keeps their clients. The reconciler reads each
// broker's catalog, has package relist bring classes and plans in line with it, and deletes a
// broker once no instance is left there. Clients hold one client per broker, with its current
// credentials. The package knows no reconciler of instances and bindings.
package broker
