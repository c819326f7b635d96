// Package audit counts what webhook, keeper and controller ask of an API server, by its audit log.
package audit
