// Package requests ends each request to the API server in time.
package requests
