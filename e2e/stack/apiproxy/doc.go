// Package apiproxy stands between one client and the API server, and can stop, delay and cut off
// what goes through: for tests of what a client does when the API server is slow or away.
package apiproxy
