// Package races_test proves that a type has never more than one default plan, and soon
// exactly one, whatever is written at the same time, by whichever webhook it is admitted,
// and whenever the keeper or a webhook is killed.
package races_test
