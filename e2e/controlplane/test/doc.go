// Package test proves the built controlplane binary from outside: it starts it as a process and speaks to it
// over HTTPS, as every other test of the project does.
//
// The binary is CONTROLPLANE_BIN, or bin/controlplane of the checkout.
package test
