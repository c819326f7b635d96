// Package admission_test proves the rules of admission kind by kind: what is admitted, what
// is denied, by which field and in which words, which writes take a right of their own, what
// the API server checks without the webhook, and how kubectl shows it.
package admission_test
