// Package resync spreads the reconciles of objects that depend on what no watch reports, such as
// Secrets.
package resync
