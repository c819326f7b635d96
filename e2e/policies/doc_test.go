// Package policies_test proves what provisioning and binding policies deny and allow, what
// their status counts, and that whatever a policy held up goes on when the policy goes.
package policies_test
