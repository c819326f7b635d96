package osbtest_test

import (
	"testing"

	"github.com/defaultplan/defaultplan/osb/osbtest"
)

// A test scripts what goes wrong, has the platform do its work, and asks the books.
func Example() {
	test := func(t *testing.T) {
		t.Helper()
		broker := osbtest.Start(t, osbtest.Demo(osbtest.Azure))
		broker.Next(osbtest.Provision, osbtest.CutAfter()) // It acts, and its answer is lost.
		held := broker.Hold(osbtest.Deprovision)
		// Here the platform at broker.URL provisions, and cleans up what it may have made.
		<-held.Arrived
		held.Act()
		<-held.Acted // Here it could be killed, and held.Left() waited for.
		held.Answer()
		broker.AssertDuties(t)
	}
	_ = test
	// Output:
}
