package install_test

import (
	"path/filepath"
	"testing"

	"github.com/defaultplan/defaultplan/e2e/stack"
)

// root is the project's folder.
var root = filepath.Join("..", "..")

func TestMain(m *testing.M) {
	stack.Main(m, stack.Suite{Binaries: []string{"controller", "svcat", "helm", "helm3", "certmanager"}, Parallel: 3})
}
