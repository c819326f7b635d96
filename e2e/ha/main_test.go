// Package ha_test has what must not go wrong when a part of the installation does: two
// webhooks, two keepers and two controllers, and an API server and an etcd that stop.
package ha_test

import (
	"testing"

	"github.com/defaultplan/defaultplan/e2e/stack/suite"
)

func TestMain(m *testing.M) {
	suite.Main(m, suite.Options{Binaries: []string{"controller"}, Parallel: 8})
}
