// Package policies says what the operator's policies refuse, and validates policies as they are
// written.
//
// A RuleSet follows the policies for fast answers; before a refusal the API server is asked.
package policies
