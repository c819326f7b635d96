package freshness_test

import (
	"testing"

	"github.com/defaultplan/defaultplan/e2e/stack"
)

func TestMain(m *testing.M) {
	stack.Main(m, stack.Suite{
		Parallel: 6,
		// The keeper is busy for minutes with the hundreds of types that these tests make.
		Options: stack.Options{Webhooks: 2, Releaser: true},
	})
}
