// Package observe_test proves what operators see of the components: decisions in logs, the
// audit log and metrics, traces, and queries and alerts that find what they ask for; and
// that no value of a parameter, a Secret or a token is in any of it.
package observe_test
