// Package certs_test proves, on a real API server and with the webhook as shipped, that
// certificates come, change and are healed without a refused request.
package certs_test
