// Package sharing_test shares instances between namespaces on a real API server, with
// users who have the rights that RBAC gives them: who may bind, what becomes of it when
// consent ends, and what an attacker learns.
package sharing_test
