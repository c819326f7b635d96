// Package observer judges a platform by the rules of package conformance: the broker of
// package osbtest records what the platform asks of it, and judges each call by its duties.
// This package says which of these duties are the specification's, and which of them a
// platform owes that speaks an older version or makes use of less.
package observer
