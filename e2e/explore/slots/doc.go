// Package slots explores how the slots of policies with limits are granted: keepers, controllers
// and users in every order of their steps. quota.Settle, quota.Look and quota.Kind.Short make the
// decisions.
package slots
