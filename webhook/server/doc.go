// Package server serves the hooks over HTTPS, within bounds: of connections, of reviews, and of the bytes of reviews that
// are read or judged at once. Anyone in the cluster may reach the port of a webhook, and the API server is not known by
// its address: so what is over a bound costs those who are slow first, and never memory.
//
// API servers send a review in one go, and repeat what is answered with 429 and Retry-After.
package server
