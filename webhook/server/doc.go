// Package server serves the hooks over HTTPS with limits: of connections, of
// reviews, and of the bytes of reviews that are read or handled at once. Every
// pod in the cluster may reach the port of a webhook, and the API server cannot
// be identified by its address. So beyond a limit slow clients are dropped
// first, and memory stays bounded.
//
// API servers send a review at once, and retry after 429 with Retry-After.
package server
