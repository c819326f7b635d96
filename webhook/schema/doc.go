// Package schema holds parameters against the JSON schemas of plans, which it compiles on demand.
package schema
