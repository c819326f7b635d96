package install_test

import (
	"path/filepath"
	"testing"

	"github.com/defaultplan/defaultplan/e2e/stack/suite"
)

// root is the project's folder.
var root = filepath.Join("..", "..")

func TestMain(m *testing.M) {
	suite.Main(m, suite.Options{Binaries: []string{"controller", "svcat", "helm", "helm3", "certmanager"}, Parallel: 3})
}
