// Package instances_test proves what becomes of an instance: how it is decided when what it
// needs comes later, that what was decided stays, however it is written, how its plan
// changes, and what happens when its plan goes or the instance terminates.
package instances_test
