package certs_test

import (
	"testing"

	"github.com/defaultplan/defaultplan/e2e/stack/suite"
)

func TestMain(m *testing.M) {
	suite.Main(m, suite.Options{Binaries: []string{"certmanager"}, Parallel: 3})
}
