package races_test

import (
	"testing"

	"github.com/defaultplan/defaultplan/e2e/stack"
)

func TestMain(m *testing.M) {
	stack.Main(m, stack.Suite{
		Options: stack.Options{Webhooks: 2, WebhookArgs: []string{"--keeper=off"}, Releaser: true},
	})
}
