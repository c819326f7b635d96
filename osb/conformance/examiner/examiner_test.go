package examiner_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/defaultplan/defaultplan/osb/conformance"
	"github.com/defaultplan/defaultplan/osb/conformance/examiner"
	"github.com/defaultplan/defaultplan/osb/osbtest"
)

// A broker that does all as the specification says keeps every rule, in each version, whether it
// is quick or not, and has nothing in the end.
func TestTheRightBroker(t *testing.T) {
	t.Parallel()
	for _, async := range []bool{false, true} {
		for _, version := range conformance.Versions() {
			broker := osbtest.New(options(async && version != "2.13"))
			report := examine(t, broker, func(o *examiner.Options) { o.APIVersion = version })
			assert.Empty(t, broken(report), "%s, async %v", version, async)
			assert.Empty(t, report.Leftovers)
			assert.Empty(t, broker.Instances())
			assert.Empty(t, broker.Bindings())
		}
	}
}
