package oldclients_test

import (
	"testing"

	"github.com/defaultplan/defaultplan/e2e/stack"
)

func TestMain(m *testing.M) {
	stack.Main(m, stack.Suite{
		Parallel: 6,
		Options:  stack.Options{Webhooks: 2, Releaser: true},
	})
}
