// Package ha_test has what must not go wrong when a part of the installation does: two
// webhooks, two keepers and two controllers, and an API server and an etcd that stop.
package ha_test

import (
	"testing"

	"github.com/defaultplan/defaultplan/e2e/stack"
)

func TestMain(m *testing.M) {
	stack.Main(m, stack.Suite{Binaries: []string{"controller"}, Parallel: 8})
}
