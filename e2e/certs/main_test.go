package certs_test

import (
	"testing"

	"github.com/defaultplan/defaultplan/e2e/stack"
)

func TestMain(m *testing.M) {
	stack.Main(m, stack.Suite{Binaries: []string{"certmanager"}, Parallel: 3})
}
