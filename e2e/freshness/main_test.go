package freshness_test

import (
	"testing"

	"github.com/defaultplan/defaultplan/e2e/stack"
	"github.com/defaultplan/defaultplan/e2e/stack/suite"
)

func TestMain(m *testing.M) {
	suite.Main(m, suite.Options{
		Parallel: 6,
		// The keeper is busy for minutes with the hundreds of types that these tests make.
		Stack: stack.Options{Webhooks: 2, Releaser: true},
	})
}
