package deletion_test

import (
	"testing"

	"github.com/defaultplan/defaultplan/e2e/stack"
	"github.com/defaultplan/defaultplan/e2e/stack/suite"
)

func TestMain(m *testing.M) {
	suite.Main(m, suite.Options{
		Parallel: 6,
		Stack:    stack.Options{Webhooks: 1, Releaser: true},
	})
}
