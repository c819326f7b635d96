package bindings_test

import (
	"testing"

	"github.com/defaultplan/defaultplan/e2e/stack"
)

func TestMain(m *testing.M) {
	stack.Main(m, stack.Suite{
		Parallel: 6,
		Options:  stack.Options{Webhooks: 1, Whole: true, Releaser: true},
	})
}
