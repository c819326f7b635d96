package races_test

import (
	"testing"

	"github.com/defaultplan/defaultplan/e2e/stack"
	"github.com/defaultplan/defaultplan/e2e/stack/suite"
)

func TestMain(m *testing.M) {
	suite.Main(m, suite.Options{
		Stack: stack.Options{Webhooks: 2, WebhookArgs: []string{"--keeper=off"}, Releaser: true},
	})
}
