// Package slots grants the slots of policies with limits, namespace by namespace. It
// decides by what the API server has, never by the cache alone, and a grant fails if
// the policy was written since it was read: see resolve/quota.
package slots
