// Package brokers has the commands about brokers: register, deregister and sync.
package brokers
