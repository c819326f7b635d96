// Package certs makes the serving certificates of the webhook.
//
// Issue makes a certificate authority and one leaf signed by it, in memory;
// WriteServing lays a leaf out as the files that the webhook server reads. Keys
// never leave the returned values: nothing here logs or stores on its own.
package certs
